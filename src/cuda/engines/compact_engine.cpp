#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "cuda/engines/block_engine.hpp"
#include "cuda/engines/engines.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/select/select_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t max_tiles = kernels::max_selected_elements / scan_order::tile_elements;

std::uint64_t stored_bytes(const SelectRule& rule, std::uint64_t elements) {
  return elements * size_of(rule.format.type);
}

/// A block in device memory: its elements, and what is selected of them.
class CompactBlock {
 public:
  CompactBlock(const SelectRule& rule, std::uint64_t elements, int loads,
               const TimedEvent& time_origin)
      : element_bytes_(size_of(rule.format.type)),
        stored_(stored_bytes(rule, elements)),
        target_(stored_.data(), loads),
        selected_(rule, elements),
        work_(time_origin) {}

  LoadTarget& target() { return target_; }
  SpanTimer& work() { return work_; }
  const SelectedElements& selected() const { return selected_; }

  std::uint64_t keep(std::uint64_t first_index, std::uint64_t elements) {
    first_index_ = first_index;
    target_.delay_until_loaded(stream_.get());
    work_.begin(stream_.get());
    selected_.select(stored_.data(), elements, {.first = first_index}, stream_.get());
    work_.end(stream_.get(), elements * element_bytes_);
    count_ = downloaded_value<std::uint64_t>(selected_.count(), stream_.get());
    return count_;
  }

  /// Tells of the last keep().
  std::uint64_t count() const { return count_; }
  std::uint64_t first_index() const { return first_index_; }

 private:
  std::uint64_t element_bytes_;
  DeviceBuffer stored_;
  LoadTarget target_;
  SelectedElements selected_;
  SpanTimer work_;
  std::uint64_t count_ = 0;
  std::uint64_t first_index_ = 0;
  Stream stream_;
};

BlockLayout block_layout(const BlockEnginePlan& plan, const SelectRule& rule, std::uint64_t limit) {
  return layout_of(plan, "compact", max_tiles, limit, [&](std::uint64_t tiles) {
    const std::uint64_t elements = tiles * scan_order::tile_elements;
    return stored_bytes(rule, elements) + SelectedElements::bytes(rule, elements);
  });
}

/// Returns the bytes of a value, or of its place.
std::size_t max_output_bytes(const SelectRule& rule) {
  const std::size_t value_bytes = size_of(rule.value_format().type);
  return rule.places ? std::max(value_bytes, sizeof(std::uint32_t)) : value_bytes;
}

class CudaCompactEngine final : public BlockEngineOf<CompactEngine, CompactBlock> {
 public:
  CudaCompactEngine(const Device& device, const BlockEnginePlan& plan, const SelectRule& rule)
      : BlockEngineOf(device, plan, stage::compact, block_layout(plan, rule, device.memory_limit()),
                      max_output_bytes(rule),
                      [&](std::uint64_t tiles, int loads, const TimedEvent& time_origin) {
                        return std::make_unique<CompactBlock>(
                            rule, tiles * scan_order::tile_elements, loads, time_origin);
                      }),
        value_bytes_(size_of(rule.value_format().type)),
        indices_(static_cast<std::size_t>(std::max(plan.writers, 1))) {}

  std::uint64_t keep(int block, std::uint64_t first_index, std::uint64_t elements) override {
    if (elements > block_elements())
      throw Error("a block of " + std::to_string(elements) + " elements is too large",
                  std::to_string(block_elements()) + " fit", "");
    device().activate();
    return this->block(block).keep(first_index, elements);
  }

  std::span<const std::byte> values(int writer, int block, std::uint64_t offset,
                                    std::uint64_t count) override {
    const CompactBlock& from = selected_block(block, offset, count);
    return this->writer(writer).fetch(from.selected().values() + offset * value_bytes_,
                                      count * value_bytes_);
  }

  std::span<const std::uint64_t> indices(int writer, int block, std::uint64_t offset,
                                         std::uint64_t count) override {
    const CompactBlock& from = selected_block(block, offset, count);
    const auto bytes = this->writer(writer).fetch(from.selected().places() + offset,
                                                  count * sizeof(std::uint32_t));
    const auto* places = reinterpret_cast<const std::uint32_t*>(bytes.data());
    std::vector<std::uint64_t>& indices = indices_.at(static_cast<std::size_t>(writer));
    indices.resize(count);
    std::transform(places, places + count, indices.begin(),
                   [&](std::uint32_t place) { return from.first_index() + place; });
    return indices;
  }

 private:
  /// Returns the block, which holds so many selected elements behind the offset; its device
  /// current.
  const CompactBlock& selected_block(int block, std::uint64_t offset, std::uint64_t count) const {
    validate_piece(block, offset, count);
    const CompactBlock& from = this->block(block);
    if (offset + count > from.count())
      throw Error("kept elements up to " + std::to_string(offset + count) + " were requested",
                  "the block kept " + std::to_string(from.count()), "");
    device().activate();
    return from;
  }

  std::uint64_t value_bytes_;
  std::vector<std::vector<std::uint64_t>> indices_;  ///< indices of a piece, for each writer
};

}  // namespace

std::unique_ptr<CompactEngine> make_compact_engine(const Device& device,
                                                   const BlockEnginePlan& plan, bool indices) {
  return std::make_unique<CudaCompactEngine>(
      device, plan, SelectRule{plan.pieces.format, plan.pieces.decoding, indices});
}

}  // namespace warpfold::cuda
