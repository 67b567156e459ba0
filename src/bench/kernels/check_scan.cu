#include <cstdint>
#include <type_traits>

#include "bench/kernels/kernels.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::kernels {
namespace {

constexpr int check_threads = 256;
constexpr int check_blocks = 2048;

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
    else
      return a + b;
  }
};

struct Greater {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

/// Adds the block's count by one atomic a warp.
__device__ void add_to(std::uint64_t* total, std::uint64_t mine) {
  const std::uint64_t sum = cuda::warp::reduce(mine, Plus{});
  if (cuda::warp::lane() == 0 && sum != 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(sum));
}

template <class In, class Out>
struct Step {
  ScanOperation operation;
  bool exclusive;

  __device__ Out combined(Out before, In element) const {
    const auto x = static_cast<Out>(element);
    if (operation == ScanOperation::sum) return Plus{}(before, x);
    return (operation == ScanOperation::min) == (x < before) ? x : before;
  }

  /// Returns what has to stand at place i.
  __device__ Out expected(const In* input, const Out* output, std::uint64_t i) const {
    if (i == 0) return exclusive ? Out{} : static_cast<Out>(input[0]);
    return combined(output[i - 1], input[exclusive ? i - 1 : i]);
  }
};

template <class In, class Out>
__global__ void __launch_bounds__(check_threads)
    count_mismatches_kernel(const In* input, const Out* output, std::uint64_t elements,
                            Step<In, Out> step, std::uint64_t* mismatches) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * check_threads;
  std::uint64_t wrong = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * check_threads + threadIdx.x; i < elements;
       i += stride)
    if (!(output[i] == step.expected(input, output, i))) ++wrong;
  __syncwarp();
  add_to(mismatches, wrong);
}

template <class In, class Out>
constexpr bool is_scan_pair = std::is_arithmetic_v<In> &&
                              (std::is_same_v<In, Out> ||
                               (std::is_integral_v<In> && std::is_integral_v<Out> &&
                                sizeof(Out) > sizeof(In) &&
                                std::is_signed_v<In> == std::is_signed_v<Out>));

/// Floats in order of value, one unit in the last place apart.
__device__ std::int64_t ordinal(float x) {
  const std::int64_t bits = __float_as_int(x);
  return bits < 0 ? -(bits & 0x7fffffff) : bits;
}

__device__ std::int64_t ordinal(double x) {
  const std::int64_t bits = __double_as_longlong(x);
  return bits < 0 ? -(bits & 0x7fffffffffffffff) : bits;
}

template <class T>
__global__ void __launch_bounds__(check_threads)
    max_distance_kernel(const T* a, const T* b, std::uint64_t elements, std::uint64_t* distance) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * check_threads;
  std::uint64_t maximum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * check_threads + threadIdx.x; i < elements;
       i += stride) {
    const std::int64_t x = ordinal(a[i]);
    const std::int64_t y = ordinal(b[i]);
    const std::uint64_t apart = x < y
                                    ? static_cast<std::uint64_t>(y) - static_cast<std::uint64_t>(x)
                                    : static_cast<std::uint64_t>(x) - static_cast<std::uint64_t>(y);
    maximum = Greater{}(maximum, apart);
  }
  __syncwarp();
  maximum = cuda::warp::reduce(maximum, Greater{});
  if (cuda::warp::lane() == 0)
    atomicMax(reinterpret_cast<unsigned long long*>(distance),
              static_cast<unsigned long long>(maximum));
}

/// Returns what `count`, given the address of a zero in device memory, makes of it.
template <class Count>
std::uint64_t counted(cudaStream_t stream, Count&& count) {
  const cuda::DeviceBuffer memory(sizeof(std::uint64_t));
  cuda::fill_bytes(memory.data(), 0, memory.size(), stream);
  count(reinterpret_cast<std::uint64_t*>(memory.data()));
  return cuda::downloaded_value<std::uint64_t>(memory.data(), stream);
}

template <class In, class Out>
void start_count(const ClaimedScan& scan, std::uint64_t* mismatches, cudaStream_t stream) {
  if constexpr (is_scan_pair<In, Out>) {
    cuda::launch("checking a scan on the GPU", count_mismatches_kernel<In, Out>,
                 {check_blocks, check_threads, stream}, static_cast<const In*>(scan.input),
                 static_cast<const Out*>(scan.output), scan.elements,
                 Step<In, Out>{scan.operation, scan.exclusive}, mismatches);
  } else {
    throw Error("cannot check a scan of these types", "it has no rule for them", "");
  }
}

}  // namespace

std::uint64_t scan_mismatches(const ClaimedScan& scan, cudaStream_t stream) {
  return counted(stream, [&](std::uint64_t* mismatches) {
    cuda::visit_kernel_type(scan.input_type, [&](auto input) {
      cuda::visit_kernel_type(scan.output_type, [&](auto output) {
        start_count<decltype(input), decltype(output)>(scan, mismatches, stream);
      });
    });
  });
}

std::uint64_t max_distance(const void* a, const void* b, std::uint64_t elements, ElementType type,
                           cudaStream_t stream) {
  return counted(stream, [&](std::uint64_t* distance) {
    const auto launch = [&](auto zero) {
      using T = decltype(zero);
      cuda::launch("comparing two arrays on the GPU", max_distance_kernel<T>,
                   {check_blocks, check_threads, stream}, static_cast<const T*>(a),
                   static_cast<const T*>(b), elements, distance);
    };
    if (type == ElementType::f64)
      launch(double{});
    else
      launch(float{});
  });
}

}  // namespace warpfold::bench::kernels
