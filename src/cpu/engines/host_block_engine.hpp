#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/block_engines.hpp"
#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/scan/scan_spec.hpp"
#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/chunks/masked_places.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/machine/thread_pool.hpp"

namespace warpfold::cpu {

/// A block's elements in ranges of consecutive tiles that threads take: a few for each, so that
/// threads slowed down by others leave some of theirs.
class BlockRanges {
 public:
  BlockRanges(std::uint64_t elements, int threads)
      : elements_(elements),
        count_(std::min<std::size_t>(ceil_div(elements, scan_order::tile_elements),
                                     static_cast<std::size_t>(threads) * ranges_per_thread)) {}

  std::size_t count() const { return count_; }
  ElementRange operator[](std::size_t range) const {
    return partition(elements_, scan_order::tile_elements, count_, range);
  }

 private:
  static constexpr std::size_t ranges_per_thread = 4;

  std::uint64_t elements_;
  std::size_t count_;
};

/// Returns how a scan holds elements: as they are stored, or as their values.
ElementFormat held_by_scan(const StagingPlan& plan);

/// Returns a decoder for each thread, which puts the operation's identity in place of what is left
/// out; none where elements are held as they are stored.
std::vector<std::unique_ptr<ElementDecoder>> decoders_of_scan(const Kernels& kernels,
                                                              const StagingPlan& plan,
                                                              ScanOperation operation);

/// The memory of blocks, and the way into it. Blocks hold elements as they are stored or, where a
/// decoder is given for each thread, all their values in native byte order.
class BlockInputs {
 public:
  /// Makes room for `blocks` blocks of at most `elements` elements, which are held as `held` says.
  BlockInputs(const Kernels& kernels, const StagingPlan& plan, ElementFormat held,
              std::vector<std::unique_ptr<ElementDecoder>> decoders, std::uint64_t elements,
              int blocks);

  /// Returns how the elements of blocks lie in memory.
  ElementFormat format() const { return format_; }
  const std::byte* elements(int block) const {
    return blocks_[static_cast<std::size_t>(block)].span().data();
  }
  int blocks() const { return static_cast<int>(blocks_.size()); }

  /// Do what a BlockEngine's do.
  Ticket take(int thread, int block, ElementRange places);
  void submit(const Ticket& ticket, const StagedChunks& piece);

 private:
  /// State of one thread that brings pieces.
  struct Thread {
    PageBuffer staging;
    PageBuffer packed;  ///< decoded chunks
    std::unique_ptr<ElementDecoder> decoder;
    MaskedPlaces mask;
  };

  std::byte* at(int block, std::uint64_t place) const {
    return blocks_[static_cast<std::size_t>(block)].span().data() + place * size_of(format_.type);
  }
  void decode(Thread& from, const std::byte* stored, const StagedRun& run,
              const BoxIndices& indices, int block);
  void fill(Thread& from, const std::byte* stored, std::size_t n, std::uint64_t place,
            const BoxIndices& indices, int block);

  const Kernels& kernels_;
  std::size_t stored_bytes_;
  ElementFormat format_;
  bool in_place_;  ///< threads put elements where they stay
  std::vector<PageBuffer> blocks_;
  std::vector<Thread> threads_;
};

/// Blocks of whole tiles that threads fill, for an Interface of an engine that computes in a pool's
/// threads.
template <class Interface>
class HostBlockEngine : public Interface {
 public:
  int blocks() const final { return inputs_.blocks(); }
  std::uint64_t block_elements() const final { return block_elements_; }
  Ticket take(int thread, int block, ElementRange places) override {
    return inputs_.take(thread, block, places);
  }
  void submit(const Ticket& ticket, const StagedChunks& piece) override {
    inputs_.submit(ticket, piece);
  }
  std::vector<StageTiming> timings() const override { return {}; }

 protected:
  /// Holds elements as `held` says, decoded where there are decoders, one for each thread.
  HostBlockEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels,
                  const BlockEnginePlan& plan, ElementFormat held,
                  std::vector<std::unique_ptr<ElementDecoder>> decoders = {})
      : pool_(std::move(pool)),
        block_elements_(
            round_up(std::max<std::uint64_t>(1, plan.block_elements), scan_order::tile_elements)),
        inputs_(kernels, plan.pieces, held, std::move(decoders), block_elements_, block_count) {}

  ThreadPool& pool() const { return *pool_; }
  const BlockInputs& inputs() const { return inputs_; }

 private:
  static constexpr int block_count = 3;  ///< one being read, one being computed, one being written

  std::shared_ptr<ThreadPool> pool_;
  std::uint64_t block_elements_;
  BlockInputs inputs_;
};

}  // namespace warpfold::cpu
