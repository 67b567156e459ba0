#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "cuda/runtime/memory.hpp"
#include "cuda/scan/scan_registers.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

namespace warpfold::cuda {

/// Numbers what launches leave in a workspace, so that none takes an earlier one's words for its
/// own. Epochs begin with 1: a workspace of zeros is of none.
class LaunchEpochs {
 public:
  static constexpr std::uint32_t last = ~std::uint32_t{0} - 1;

  struct Range {
    std::uint32_t first;
    bool needs_clearing;  ///< the workspace is to be cleared before the launch
  };

  /// Returns the next `count` epochs, fewer than `last`. The workspace has never been cleared at
  /// first.
  Range take(std::uint32_t count) {
    const bool needs_clearing = next_ == 0 || count > last - next_ + 1;
    const std::uint32_t first = needs_clearing ? 1 : next_;
    next_ = first + count;
    return {first, needs_clearing};
  }

 private:
  std::uint32_t next_ = 0;
};

/// One-pass scans of arrays in the memory of one device, the current one when it was made: sums in
/// the output type's own arithmetic (integers wrap), minima and maxima. Floating-point sums are the
/// same bits from run to run on one GPU model. One scan at a time.
class OnePassScan {
 public:
  /// Native byte order. Throws Error where supports() is false, and where the device holds no block
  /// of the kernel.
  OnePassScan(ElementType input, ElementType output, ScanOperation operation);

  static bool supports(ElementType input, ElementType output, ScanOperation operation);

  /// Scans behind what `stream` holds. Arrays are aligned to their elements; `output` may be
  /// `input` where sizes are equal. `before`, the combined value of all elements before the first,
  /// points to an element of the output type on the host, or is null.
  void start(const void* input, void* output, std::uint64_t elements, bool exclusive,
             const void* before, cudaStream_t stream);

 private:
  ElementType input_;
  ElementType output_;
  ScanOperation operation_;
  kernels::ResidentScan resident_;
  DeviceBuffer workspace_;
  LaunchEpochs epochs_;
};

}  // namespace warpfold::cuda
