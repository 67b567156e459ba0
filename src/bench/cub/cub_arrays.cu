#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <bit>
#include <cub/device/device_histogram.cuh>
#include <cub/device/device_scan.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cub/device/device_select.cuh>
#include <type_traits>

#include "bench/cub/cub_peers.hpp"
#include "bench/cub/widened.cuh"

namespace warpfold::bench {

#if CUB_VERSION >= 300000

namespace {

template <class T>
using SumOf = std::conditional_t<std::is_integral_v<T>, std::int64_t, T>;

template <class T>
struct AtMost {
  T most;
  __host__ __device__ bool operator()(T element) const { return element <= most; }
};

/// The first element of a line, by its number.
struct LineStart {
  std::int64_t length;
  __host__ __device__ std::int64_t operator()(std::int64_t line) const { return line * length; }
};

/// The line of an element.
struct LineOf {
  int length_bits;
  __host__ __device__ std::uint32_t operator()(std::uint64_t i) const {
    return static_cast<std::uint32_t>(i >> length_bits);
  }
};

/// Calls make(element), value-initialised, for types that there are peers of.
template <class Make>
CubLaunch for_type(ElementType type, Make&& make) {
  switch (type) {
    case ElementType::f32:
      return make(float{});
#ifndef WARPFOLD_SAMPLE_KERNELS
    case ElementType::f64:
      return make(double{});
    case ElementType::i32:
      return make(std::int32_t{});
#endif
    default:
      return nullptr;
  }
}

}  // namespace

CubLaunch cub_histogram(ElementType input, int bins, double first, double end) {
  return for_type(input, [=](auto element) -> CubLaunch {
    using T = decltype(element);
    using Level = SumOf<T>;  // the end of all i32 is none
    return [=](void* scratch, std::size_t& scratch_bytes, const void* elements, void* counters,
               std::uint64_t count, cudaStream_t stream) {
      return cub::DeviceHistogram::HistogramEven(
          scratch, scratch_bytes, static_cast<const T*>(elements), static_cast<unsigned*>(counters),
          bins + 1, static_cast<Level>(first), static_cast<Level>(end),
          static_cast<std::int64_t>(count), stream);
    };
  });
}

CubLaunch cub_select(ElementType input, double most) {
  return for_type(input, [=](auto element) -> CubLaunch {
    using T = decltype(element);
    return [=](void* scratch, std::size_t& scratch_bytes, const void* elements, void* output,
               std::uint64_t count, cudaStream_t stream) {
      auto* const selected =
          reinterpret_cast<T*>(static_cast<std::byte*>(output) + cub_select_offset);
      return cub::DeviceSelect::If(scratch, scratch_bytes, static_cast<const T*>(elements),
                                   selected, static_cast<std::uint64_t*>(output),
                                   static_cast<std::int64_t>(count),
                                   AtMost<T>{static_cast<T>(most)}, stream);
    };
  });
}

CubLaunch cub_line_sums(ElementType input, std::uint64_t length) {
  return for_type(input, [=](auto element) -> CubLaunch {
    using T = decltype(element);
    return [=](void* scratch, std::size_t& scratch_bytes, const void* elements, void* sums,
               std::uint64_t count, cudaStream_t stream) {
      const auto starts = thrust::make_transform_iterator(
          thrust::counting_iterator<std::int64_t>(0), LineStart{static_cast<std::int64_t>(length)});
      return cub::DeviceSegmentedReduce::Sum(
          scratch, scratch_bytes, static_cast<const T*>(elements), static_cast<SumOf<T>*>(sums),
          static_cast<std::int64_t>(count / length), starts, starts + 1, stream);
    };
  });
}

CubLaunch cub_line_prefixes(ElementType input, std::uint64_t length) {
  return for_type(input, [=](auto element) -> CubLaunch {
    using T = decltype(element);
    return [=](void* scratch, std::size_t& scratch_bytes, const void* elements, void* prefixes,
               std::uint64_t count, cudaStream_t stream) {
      const auto lines = thrust::make_transform_iterator(
          thrust::counting_iterator<std::uint64_t>(0), LineOf{std::countr_zero(length)});
      return cub::DeviceScan::InclusiveSumByKey(
          scratch, scratch_bytes, lines, widened<SumOf<T>>(static_cast<const T*>(elements)),
          static_cast<SumOf<T>*>(prefixes), count, ::cuda::std::equal_to<>{}, stream);
    };
  });
}

#else

CubLaunch cub_histogram(ElementType, int, double, double) { return nullptr; }

CubLaunch cub_select(ElementType, double) { return nullptr; }

CubLaunch cub_line_sums(ElementType, std::uint64_t) { return nullptr; }

CubLaunch cub_line_prefixes(ElementType, std::uint64_t) { return nullptr; }

#endif

}  // namespace warpfold::bench
