#pragma once

#include "cuda/arrays/scan_method.hpp"

namespace warpfold::cuda {

/// Prefix sums of floats.
class FloatSumScan final : public ScanMethod {
 public:
  explicit FloatSumScan(const ScanSpec& spec) : spec_(spec) {}

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override;
  bool needs_total(std::uint64_t) const override { return true; }
  Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                    cudaStream_t stream) override;
  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override;

 private:
  ScanSpec spec_;
};

}  // namespace warpfold::cuda
