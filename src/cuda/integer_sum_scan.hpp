#pragma once

#include "cuda/scan_method.hpp"

namespace warpfold::cuda {

/// Prefix sums of integers.
class IntegerSumScan final : public ScanMethod {
 public:
  explicit IntegerSumScan(const ScanSpec& spec) : spec_(spec) {}

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override;
  Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                    cudaStream_t stream) const override;
  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) const override;

 private:
  ScanSpec spec_;
};

}  // namespace warpfold::cuda
