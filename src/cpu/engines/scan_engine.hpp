#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/engine/backend.hpp"
#include "cpu/engines/host_block_engine.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "cpu/scan/range_scanner.hpp"

namespace warpfold::cpu {

/// Cuts a block into ranges of consecutive tiles: total() reduces them, and keeps their totals for
/// scan(), which then scans them independently.
class HostScanEngine final : public HostBlockEngine<ScanEngine> {
 public:
  HostScanEngine(std::shared_ptr<ThreadPool> threads, const Kernels& kernels, const ScanPlan& plan);

  Accumulator total(int block, std::uint64_t elements) override;
  std::optional<std::uint64_t> scan(int block, std::uint64_t first_index, std::uint64_t elements,
                                    const Accumulator& before) override;
  std::span<const std::byte> output(int writer, int block, std::uint64_t offset,
                                    std::uint64_t elements) override;

 private:
  struct Block {
    PageBuffer out;
    std::vector<Accumulator> range_totals;
  };

  Block& block_at(int block) { return blocks_[static_cast<std::size_t>(block)]; }

  std::size_t input_bytes_;
  std::size_t output_bytes_;
  std::vector<Block> blocks_;
  std::vector<std::unique_ptr<RangeReducer>> folders_;   ///< one a worker
  std::vector<std::unique_ptr<RangeScanner>> scanners_;  ///< one a worker
};

}  // namespace warpfold::cpu
