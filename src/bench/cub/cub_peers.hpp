#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

/// CUB's algorithms as peers to measure beside. A build without benchmarks has none of them.
namespace warpfold::bench {

/// Says "CUB 3.0.1", or why there is none.
std::string cub_description();

/// Says why there is no peer of some types.
inline std::string cub_absence() { return "not compiled for these types; " + cub_description(); }

/// One of CUB's algorithms for a type. As CUB's own: with a null `scratch` it only asks for
/// `scratch_bytes`.
using CubLaunch =
    std::function<cudaError_t(void* scratch, std::size_t& scratch_bytes, const void* input,
                              void* output, std::uint64_t elements, cudaStream_t stream)>;

struct CubSum {
  CubLaunch launch;
  ElementType output;  ///< u32 for u8, i64 for i16, f32 for narrower floats; else the input's
};

/// Returns DeviceReduce::Sum; nothing for types it is not compiled for.
std::optional<CubSum> cub_sum(ElementType input);

/// Returns DeviceScan's sums, in the output type's arithmetic; null for types they are not compiled
/// for.
CubLaunch cub_scan(ElementType input, ElementType output, bool exclusive);

/// Returns how many elements they take.
std::uint64_t max_cub_scan_elements();

// The following are for f64 and f32; null for other types, and before CUB 3.5.

/// Returns DeviceReduce::Sum that requires `gpu_to_gpu`: the same bits on every GPU.
CubLaunch cub_gpu_to_gpu_sum(ElementType type);

/// Returns DeviceScan's sums that require `run_to_run`: the same bits in each run on one GPU.
CubLaunch cub_run_to_run_scan(ElementType type, bool exclusive);

/// Says why there is none of these.
inline std::string cub_guarantee_absence() {
  return "requires CUB 3.5 (WARPFOLD_CCCL); " + cub_description();
}

// The following are for f64, f32 and i32; null for other types, and before CUB 3.0.

/// Returns DeviceHistogram::HistogramEven of bins from `first` to `end`, whose 32-bit counters are
/// the output.
CubLaunch cub_histogram(ElementType input, int bins, double first, double end);

/// Returns DeviceSelect::If of elements up to `most`. The output begins with their number, of 64
/// bits; they follow from byte cub_select_offset on.
CubLaunch cub_select(ElementType input, double most);
inline constexpr std::size_t cub_select_offset = 256;

/// Return DeviceSegmentedReduce::Sum and DeviceScan::InclusiveSumByKey over lines of `length`
/// elements, a power of two; sums of integers have 64 bits.
CubLaunch cub_line_sums(ElementType input, std::uint64_t length);
CubLaunch cub_line_prefixes(ElementType input, std::uint64_t length);

/// One of CUB's algorithms for arrays of one length, with its scratch memory.
class CubRun {
 public:
  CubRun(const CubLaunch& launch, std::uint64_t elements, cudaStream_t stream)
      : launch_(launch), elements_(elements), stream_(stream) {
    std::size_t bytes = 0;
    cuda::check(launch_(nullptr, bytes, nullptr, nullptr, elements_, stream_), "preparing CUB");
    scratch_ = std::make_shared<cuda::DeviceBuffer>(bytes);
  }

  void operator()(const void* input, void* output) const {
    std::size_t bytes = scratch_->size();
    cuda::check(launch_(scratch_->data(), bytes, input, output, elements_, stream_),
                "starting CUB");
  }

 private:
  CubLaunch launch_;
  std::uint64_t elements_;
  cudaStream_t stream_;
  std::shared_ptr<cuda::DeviceBuffer> scratch_;
};

}  // namespace warpfold::bench
