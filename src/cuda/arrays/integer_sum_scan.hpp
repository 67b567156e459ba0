#pragma once

#include <optional>

#include "cuda/arrays/array_scan.hpp"
#include "cuda/arrays/scan_method.hpp"
#include "cuda/reduce/device_reduce.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda {

/// Prefix sums of integers: in the output type's own arithmetic where no prefix can overflow it, or
/// none is looked for, else in 128 bits.
class IntegerSumScan final : public ScanMethod {
 public:
  explicit IntegerSumScan(const ScanSpec& spec);

  std::uint64_t scratch_bytes(std::uint64_t tiles) const override;
  bool needs_total(std::uint64_t elements) const override;
  Accumulator total(const kernels::BlockView& block, std::byte* scratch,
                    cudaStream_t stream) override;
  std::optional<std::uint64_t> scan(const kernels::BlockView& block, std::byte* scratch,
                                    const Accumulator& before, cudaStream_t stream) override;

 private:
  /// The sums of a block's positive and of its negative elements, or bounds of them.
  struct Reach {
    int128 positive;
    int128 negative;
  };

  Reach furthest_reach(std::uint64_t elements) const;
  bool every_prefix_fits(int128 before, const Reach& reach) const;
  void scan_modulo(const kernels::BlockView& block, int128 before, cudaStream_t stream);
  std::optional<std::uint64_t> scan_checked(const kernels::BlockView& block, std::byte* scratch,
                                            int128 before, cudaStream_t stream) const;

  ScanSpec spec_;
  DeviceReduce reduce_;
  std::optional<ArrayScan> array_scan_;  ///< where there is one of these types
  std::optional<Reach> reach_;           ///< of the block whose total() is known
};

}  // namespace warpfold::cuda
