#include <limits>
#include <type_traits>

#include "bench/kernels/kernels.hpp"
#include "cuda/runtime/kernel_types.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::kernels {
namespace {

constexpr int fill_threads = 256;
constexpr int fill_blocks = 2048;

/// Random bits by index: SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
__device__ std::uint64_t random_bits(std::uint64_t index, std::uint64_t seed) {
  std::uint64_t bits = (index + 1) * 0x9e3779b97f4a7c15 + seed * 0xd1342543de82ef95;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

template <class T>
__device__ T converted(double value) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(value);
  else
    return T::from_double(value);
}

template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_same_v<T, double>)
    return 53;
  else if constexpr (std::is_same_v<T, float>)
    return 24;
  else
    return T::mantissa_bits + 1;
}

template <class T>
__device__ T uniform_element(std::uint64_t bits) {
  if constexpr (is_floating_element<T>) {
    constexpr int kept = significand_bits<T>();
    constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << kept);
    return converted<T>(static_cast<double>(bits >> (64 - kept)) * unit);
  } else {
    return static_cast<T>(bits);
  }
}

template <class T>
__device__ T promoted_element(std::uint64_t bits) {
  constexpr std::uint64_t orders = std::is_same_v<T, Float16> ? 20 : 60;
  constexpr int fraction_bits = significand_bits<T>() - 1;
  const std::uint64_t sign = bits & 1;
  const std::uint64_t order = (bits >> 1 & 0xfff) % orders;
  const std::uint64_t fraction = bits >> (64 - fraction_bits) << (52 - fraction_bits);
  return converted<T>(__longlong_as_double(
      static_cast<long long>(sign << 63 | (1023 - orders / 2 + order) << 52 | fraction)));
}

/// In (-1, 1).
__device__ double signed_unit(std::uint64_t bits) {
  return static_cast<double>(static_cast<std::int64_t>(bits | 1) >> 10) * 0x1p-53;
}

__device__ double drifting(std::uint64_t index, double unit) {
  constexpr std::uint64_t elements_of_order = 1 << 16;
  constexpr std::uint64_t orders = 40;
  const std::uint64_t order = index / elements_of_order % (2 * orders);
  return unit * exp10(static_cast<double>(order < orders ? order : 2 * orders - order) - 20.0);
}

template <class T>
__device__ double largest() {
  if constexpr (std::is_arithmetic_v<T>)
    return std::numeric_limits<T>::max();
  else
    return std::is_same_v<T, Float16> ? 0x1.ffcp15 : 0x1.fep127;
}

template <class T>
__device__ double least_normal() {
  if constexpr (std::is_same_v<T, double>)
    return 0x1p-1022;
  else
    return std::is_same_v<T, Float16> ? 0x1p-14 : 0x1p-126;
}

template <class T>
__device__ T signed_element(Pattern pattern, std::uint64_t index, std::uint64_t bits) {
  const double unit = signed_unit(bits);
  switch (pattern) {
    case Pattern::drift:
      return converted<T>(drifting(index, unit));
    case Pattern::fill:
      return converted<T>((bits & 0x3ff) < 102 ? 1e37 : unit);
    case Pattern::cancel:
      return converted<T>(index % 3 == 0 ? 1e20 : index % 3 == 1 ? -1e20 : 1e-3 * unit);
    case Pattern::subnormal:
      return converted<T>(least_normal<T>() / 16.0 * unit);
    case Pattern::tails:
      return converted<T>(exp2(log2(least_normal<T>()) * fabs(unit)));
    case Pattern::largest:
      return converted<T>(index % 2 == 0 ? largest<T>() : -largest<T>());
    default:
      return converted<T>(unit);
  }
}

template <class T>
__device__ T step_element(std::uint64_t bits) {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(bits >> 63);
  else
    return converted<T>(static_cast<double>(static_cast<int>((bits >> 32) % 3) - 1));
}

template <class T>
__device__ T element(Pattern pattern, std::uint64_t index, std::uint64_t bits) {
  if (pattern == Pattern::uniform) return uniform_element<T>(bits);
  if (pattern == Pattern::steps) return step_element<T>(bits);
  if constexpr (is_floating_element<T>)
    return pattern == Pattern::wide ? promoted_element<T>(bits)
                                    : signed_element<T>(pattern, index, bits);
  else
    return T{0};
}

template <class T>
__global__ void __launch_bounds__(fill_threads)
    fill_kernel(T* elements, Pattern pattern, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * fill_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * fill_threads + threadIdx.x; i < count;
       i += stride)
    elements[i] = element<T>(pattern, i, random_bits(i, seed));
}

__device__ std::uint32_t label_of(Labelling labelling, std::uint64_t index, std::uint64_t labels,
                                  std::uint64_t seed) {
  constexpr std::uint64_t run = 64;
  const std::uint64_t bits = random_bits(labelling == Labelling::runs ? index / run : index, seed);
  if (labelling != Labelling::skewed)
    return static_cast<std::uint32_t>((bits >> 32) * labels >> 32);
  const double order = exp2(uniform_element<double>(bits) * log2(static_cast<double>(labels)));
  return static_cast<std::uint32_t>(min(static_cast<std::uint64_t>(order), labels) - 1);
}

__global__ void __launch_bounds__(fill_threads)
    fill_labels_kernel(std::uint32_t* elements, std::uint64_t labels, Labelling labelling,
                       std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * fill_threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * fill_threads + threadIdx.x; i < count;
       i += stride)
    elements[i] = label_of(labelling, i, labels, seed);
}

}  // namespace

void fill(void* elements, ElementType type, Pattern pattern, std::uint64_t count,
          std::uint64_t seed, cudaStream_t stream) {
  cuda::visit_kernel_type(type, [&](auto zero) {
    using T = decltype(zero);
    cuda::launch("filling an array on the GPU", fill_kernel<T>, {fill_blocks, fill_threads, stream},
                 static_cast<T*>(elements), pattern, count, seed);
  });
}

void fill_labels(std::uint32_t* elements, std::uint64_t labels, Labelling labelling,
                 std::uint64_t count, std::uint64_t seed, cudaStream_t stream) {
  cuda::launch("filling an array on the GPU", fill_labels_kernel,
               {fill_blocks, fill_threads, stream}, elements, labels, labelling, count, seed);
}

}  // namespace warpfold::bench::kernels
