#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/backend.hpp"
#include "cpu/block_inputs.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/page_buffer.hpp"
#include "cpu/range_folder.hpp"
#include "cpu/range_scanner.hpp"
#include "cpu/thread_pool.hpp"

namespace warpfold::cpu {

/// Cuts a block into ranges of consecutive tiles: total() folds them, and keeps their totals for
/// scan(), which then scans them independently.
class HostScanEngine final : public ScanEngine {
 public:
  HostScanEngine(std::shared_ptr<ThreadPool> pool, const Kernels& kernels, const ScanPlan& plan);

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
  Accumulator total(int block, std::uint64_t elements) override;
  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override;
  std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                    std::uint64_t elements) override;

  /// None: the threads that call know how long it took.
  std::vector<EngineTiming> timings() const override { return {}; }

 private:
  struct Block {
    PageBuffer out;
    std::vector<Accumulator> range_totals;
  };

  Block& block_at(int block) { return blocks_[static_cast<std::size_t>(block)]; }

  std::shared_ptr<ThreadPool> pool_;
  std::uint64_t block_elements_;
  BlockInputs inputs_;
  std::size_t input_bytes_;
  std::size_t output_bytes_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<RangeFolder>> folders_;    ///< one a worker
  std::vector<std::unique_ptr<RangeScanner>> scanners_;  ///< one a worker
};

}  // namespace warpfold::cpu
