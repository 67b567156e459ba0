#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/engines/block_inputs.hpp"
#include "cpu/machine/thread_pool.hpp"

namespace warpfold::cpu {

/// Blocks of whole tiles that readers fill, for an Engine that computes in a pool's threads.
template <class Engine>
class HostBlockEngine : public Engine {
 public:
  int blocks() const override { return inputs_.blocks(); }
  std::uint64_t block_elements() const override { return block_elements_; }

  std::span<std::byte> input(int reader, int block, std::uint64_t offset,
                             std::uint64_t elements) override {
    return inputs_.input(reader, block, offset, elements);
  }
  void load(int reader, int block, std::uint64_t offset, std::uint64_t elements) override {
    inputs_.load(reader, block, offset, elements);
  }
  std::span<std::byte> staging(int reader) override { return inputs_.staging(reader); }
  void load(int reader, int block, const StagedChunks& piece) override {
    inputs_.load(reader, block, piece);
  }

  /// None: the threads that call know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 protected:
  /// `make_inputs(plan)` gives the BlockInputs. Plan is a ScanPlan or CompactPlan, its elements
  /// stored as `stored`.
  template <class Plan, class MakeInputs>
  HostBlockEngine(std::shared_ptr<ThreadPool> pool, const Plan& plan, ElementFormat stored,
                  const MakeInputs& make_inputs)
      : pool_(std::move(pool)),
        block_elements_(round_up(std::max<std::uint64_t>(1, plan.partition_elements),
                                 scan_order::tile_elements)),
        inputs_(make_inputs(BlockInputPlan{stored, block_count, block_elements_, plan.slab_elements,
                                           plan.staging_bytes, plan.readers})) {}

  ThreadPool& pool() const { return *pool_; }
  const BlockInputs& inputs() const { return inputs_; }

 private:
  static constexpr int block_count = 3;  ///< one being read, one being computed, one being written

  std::shared_ptr<ThreadPool> pool_;
  std::uint64_t block_elements_;
  BlockInputs inputs_;
};

}  // namespace warpfold::cpu
