#pragma once

#include "cuda/arrays/array_scan.hpp"
#include "cuda/arrays/scan_method.hpp"
#include "cuda/reduce/device_reduce.hpp"

namespace warpfold::cuda {

/// Prefix sums of floats in their own arithmetic: the same from run to run on one GPU model. Its
/// total is exact, and what precedes a block is rounded once.
class FastFloatSumScan final : public ScanMethod {
 public:
  /// Throws Error where ArrayScan has no sum of these types, and for elements in the other byte
  /// order.
  explicit FastFloatSumScan(const ScanSpec& spec);

  std::uint64_t scratch_bytes(std::uint64_t) const override { return 0; }
  bool needs_total(std::uint64_t) const override { return false; }
  Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                    cudaStream_t stream) override;
  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override;

 private:
  ScanSpec spec_;
  DeviceReduce reduce_;
  ArrayScan array_scan_;
};

}  // namespace warpfold::cuda
