#pragma once

#include <optional>

#include "cuda/arrays/array_scan.hpp"
#include "cuda/arrays/scan_method.hpp"
#include "cuda/reduce/device_reduce.hpp"

namespace warpfold::cuda {

/// Running minima or maxima of any elements.
class ExtremumScan final : public ScanMethod {
 public:
  explicit ExtremumScan(const ScanSpec& spec);

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override;
  bool needs_total(std::uint64_t) const override { return false; }
  Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                    cudaStream_t stream) override;
  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override;

 private:
  void scan_array(const kernels::BlockView& block, const Accumulator& before, cudaStream_t stream);
  std::optional<std::uint64_t> scan_tiles(const kernels::BlockView& block, std::byte* scratch,
                                          const Accumulator& before, cudaStream_t stream) const;

  ScanSpec spec_;
  DeviceReduce reduce_;
  std::optional<ArrayScan> array_scan_;  ///< where there is one of these types
};

}  // namespace warpfold::cuda
