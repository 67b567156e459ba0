#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "core/results/histogram_bins.hpp"
#include "cuda/histogram/histogram.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Bins and their counters in the memory of the current device.
class DeviceBins {
 public:
  /// Makes bins of HistogramBins::keys(), for values of the type, with counters of 0. Throws Error.
  DeviceBins(ElementType type, const std::vector<std::uint64_t>& keys);

  static std::uint64_t bytes(const std::vector<std::uint64_t>& keys);

  /// Starts setting all counters to 0.
  void clear(cudaStream_t stream) const;

  /// Starts counting `count` elements in device memory; where `selected` is not null, as many of
  /// them as that says in device memory. Streams may count at once.
  void count(const std::byte* elements, std::uint64_t count, ElementFormat format,
             const std::uint64_t* selected, cudaStream_t stream) const;

  /// Once all streams that count are done.
  HistogramCounts counts() const;

 private:
  std::uint64_t counters() const { return bins_.count + kernels::outside_counters; }

  DeviceBuffer memory_;
  kernels::HistogramBins bins_{};
};

}  // namespace warpfold::cuda
