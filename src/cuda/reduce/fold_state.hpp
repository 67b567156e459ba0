#pragma once

#include <cstdint>

#include "cuda/reduce/fold.hpp"
#include "cuda/runtime/device_buffer.hpp"
#include "warpfold/core/accumulator.hpp"

namespace warpfold::cuda {

/// Device memory that launches, one at a time, fold into.
class FoldState {
 public:
  FoldState() = default;

  /// Empty totals, for launches of up to `blocks` thread blocks.
  explicit FoldState(int blocks);

  static std::uint64_t bytes(int blocks) {
    return sizeof(kernels::FoldTotals) + extrema_bytes(blocks);
  }

  int blocks() const { return blocks_; }
  kernels::FoldTotals* totals() const {
    return reinterpret_cast<kernels::FoldTotals*>(totals_.data());
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

/// `total` without what a fold may have filled beyond its needs.
Accumulator needed_parts(const Accumulator& total, const FoldNeeds& needs);

}  // namespace warpfold::cuda
