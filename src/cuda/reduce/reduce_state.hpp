#pragma once

#include <cstdint>

#include "cuda/reduce/reduce.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold::cuda {

/// Device memory that launches, one at a time, reduce into.
class ReduceState {
 public:
  ReduceState() = default;

  /// Empty totals, for launches of up to `blocks` thread blocks.
  explicit ReduceState(int blocks);

  static std::uint64_t bytes(int blocks) {
    return sizeof(kernels::ReduceTotals) + extrema_bytes(blocks);
  }

  int blocks() const { return blocks_; }
  kernels::ReduceTotals* totals() const {
    return reinterpret_cast<kernels::ReduceTotals*>(totals_.data());
  }
  kernels::BlockExtrema* block_extrema() const {
    return reinterpret_cast<kernels::BlockExtrema*>(block_extrema_.data());
  }

 private:
  static std::uint64_t extrema_bytes(int blocks) {
    return static_cast<std::uint64_t>(blocks) * sizeof(kernels::BlockExtrema);
  }

  int blocks_ = 0;
  DeviceBuffer totals_;
  DeviceBuffer block_extrema_;
};

/// `total` without what a reduction may have filled beyond its needs.
Accumulator needed_parts(const Accumulator& total, const ReduceNeeds& needs);

}  // namespace warpfold::cuda
