#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "core/results/accumulator.hpp"
#include "core/scan/scan_spec.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/scan/scan_method.hpp"

namespace warpfold::cuda {

/// Scans arrays that are in the memory of one device, the current one when it was made, aligned to
/// their elements: first the array's total, then, once it is known what precedes the array, its
/// prefixes. Keeps its scratch memory from one array to the next. One array at a time.
class DeviceScan {
 public:
  /// Sums of floats are those of ScanEngine, the same everywhere, where `reproducible`, else in the
  /// output type's own arithmetic, the same from run to run on one GPU model. Throws Error for a
  /// spec that can't be, and where the type of sums that are not reproducible has no such scan.
  DeviceScan(const ScanSpec& spec, bool reproducible);

  /// Returns whether scan() of so many elements needs total() before; where it doesn't, total() is
  /// for what follows the array.
  bool needs_total(std::uint64_t elements) const { return method_->needs_total(elements); }

  /// Does what ScanEngine::total() does, behind what `stream` holds; returns once it is known.
  /// Indices count from the array's start.
  Accumulator total(const void* input, std::uint64_t elements, cudaStream_t stream);

  /// Does what ScanEngine::scan() does, of the array whose total() was requested last, if it was
  /// since the last scan(); the place counts from the array's start. `output` is memory of its own,
  /// or `input` where sizes are equal. What is put into `stream` later meets the prefixes; the call
  /// may return before they are there.
  std::optional<std::uint64_t> scan(const void* input, void* output, std::uint64_t elements,
                                    const Accumulator& before, cudaStream_t stream);

 private:
  std::byte* scratch_for(const kernels::BlockView& array);

  ScanSpec spec_;
  std::unique_ptr<ScanMethod> method_;
  DeviceBuffer scratch_;
};

}  // namespace warpfold::cuda
