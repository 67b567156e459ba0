#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/span_timer.hpp"
#include "cuda/staging/block_loads.hpp"
#include "cuda/staging/block_writer.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

/// A BlockEngine, also of writers. A Block has target(), its LoadTarget, and work(), the SpanTimer
/// of what is done with it.
template <class Interface, class Block>
class BlockEngineOf : public Interface {
 public:
  int blocks() const final { return layout_.blocks; }
  std::uint64_t block_elements() const final { return layout_.block_elements(); }
  bool decompresses() const final { return layout_.decompresses; }

  Ticket take(int thread, int block, ElementRange places) final {
    if (plan_.pieces.staging != Staging::chunks) validate_piece(block, places.first, places.count);
    device_.activate();
    return {loads_.buffer(thread, places.count), thread, block};
  }

  void submit(const Ticket& ticket, const StagedChunks& piece) final {
    if (piece.target.elements > block_elements())
      throw Error("a block of " + std::to_string(piece.target.elements) + " elements is too large",
                  std::to_string(block_elements()) + " fit", "");
    device_.activate();
    loads_.load(ticket.thread, ticket.slot, at(blocks_, ticket.slot).target(), piece);
  }

  std::vector<StageTiming> timings() const final {
    device_.activate();
    return timings_of(stages_);
  }

 protected:
  /// `work` is the stage of what is done with blocks. These are make_block(tiles, streams that
  /// load, time origin); writers take pieces of elements of `output_bytes` at most.
  template <class MakeBlock>
  BlockEngineOf(const Device& device, const BlockEnginePlan& plan, const char* work,
                const BlockLayout& layout, std::size_t output_bytes, MakeBlock&& make_block)
      : device_(device),
        plan_(plan),
        layout_(layout),
        piece_elements_(
            std::clamp(round_up(plan_.pieces.slab_elements, tile), tile, block_elements())),
        time_origin_(make_time_origin()),
        loads_(plan_, layout_, piece_elements_, time_origin_) {
    const int loads = BlockLoads::streams(plan_, layout_);
    for (int block = 0; block < layout_.blocks; ++block)
      blocks_.push_back(make_block(layout_.tiles, loads, time_origin_));
    for (int writer = 0; writer < std::max(plan_.writers, 1); ++writer)
      writers_.push_back(
          std::make_unique<BlockWriter>(piece_elements_ * output_bytes, time_origin_));
    std::vector<SpanTimer*> computing;
    std::vector<SpanTimer*> outputs;
    for (const auto& block : blocks_) computing.push_back(&block->work());
    for (const auto& writer : writers_) outputs.push_back(&writer->copies());
    const auto add = [&](const std::string& name, const std::vector<SpanTimer*>& timers) {
      stages_.push_back(std::make_unique<TimedStage>(name, timers, plan_.pieces.stages));
    };
    add(stage::copy_to_gpu, loads_.timers());
    if (layout_.decompresses) add(stage::decompress_on_gpu, loads_.decompressing_timers());
    add(work, computing);
    add(stage::copy_from_gpu, outputs);
  }

  const Device& device() const { return device_; }
  Block& block(int number) const { return at(blocks_, number); }
  BlockWriter& writer(int number) const { return at(writers_, number); }

  void validate_piece(int block, std::uint64_t offset, std::uint64_t elements) const {
    if (block >= 0 && block < layout_.blocks && elements <= piece_elements_ &&
        offset <= block_elements() - elements)
      return;
    throw Error("a piece of " + std::to_string(elements) + " elements at " +
                    std::to_string(offset) + " does not fit block " + std::to_string(block),
                std::to_string(layout_.blocks) + " blocks of " + std::to_string(block_elements()) +
                    " elements, pieces of " + std::to_string(piece_elements_),
                "");
  }

 private:
  static constexpr std::uint64_t tile = scan_order::tile_elements;

  template <class T>
  static T& at(const std::vector<std::unique_ptr<T>>& all, int number) {
    return *all.at(static_cast<std::size_t>(number));
  }

  Device device_;
  BlockEnginePlan plan_;
  BlockLayout layout_;
  std::uint64_t piece_elements_;
  TimedEvent time_origin_;
  std::vector<std::unique_ptr<Block>> blocks_;
  BlockLoads loads_;
  std::vector<std::unique_ptr<BlockWriter>> writers_;
  std::vector<std::unique_ptr<TimedStage>> stages_;
};

}  // namespace warpfold::cuda
