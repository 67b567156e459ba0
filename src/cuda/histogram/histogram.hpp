#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/histogram/bin_search.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

/// Counters behind those of the bins: what no bin takes.
enum class OutsideBins : unsigned { below, above, nan };
inline constexpr std::uint64_t outside_counters = 3;

inline constexpr std::uint64_t max_bins = std::uint64_t{1} << 31;

/// In device memory: the bins, and what counts for them.
struct HistogramBins {
  BinTable table;
  std::uint64_t count;  ///< at most max_bins
  std::uint64_t first_key;
  std::uint64_t end_key;
  unsigned long long* counters;  ///< count + outside_counters
};

struct HistogramArguments {
  const std::byte* elements;  ///< in device memory, aligned to their size
  std::uint64_t count;        ///< the most there may be where `kept` says how many there are
  ElementFormat format;
  const std::uint64_t* kept;  ///< in device memory, or null
  HistogramBins bins;
};

/// Adds each element to its counter.
void histogram(const HistogramArguments& arguments, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
