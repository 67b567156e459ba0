#include <type_traits>

#include "bench/kernels/kernels.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::bench::kernels {
namespace {

constexpr int threads = 256;
constexpr int blocks = 2048;

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

template <class T>
__device__ T step_element(std::uint64_t bits) {
  if constexpr (std::is_unsigned_v<T>)
    return static_cast<T>(bits >> 63);
  else
    return converted<T>(static_cast<double>(static_cast<int>((bits >> 32) % 3) - 1));
}

template <class T>
__device__ T element(Pattern pattern, std::uint64_t bits) {
  if constexpr (is_floating_element<T>)
    if (pattern == Pattern::wide) return promoted_element<T>(bits);
  return pattern == Pattern::steps ? step_element<T>(bits) : uniform_element<T>(bits);
}

template <class T>
__global__ void __launch_bounds__(threads)
    fill_kernel(T* elements, Pattern pattern, std::uint64_t count, std::uint64_t seed) {
  const std::uint64_t stride = std::uint64_t{gridDim.x} * threads;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += stride)
    elements[i] = element<T>(pattern, random_bits(i, seed));
}

}  // namespace

void fill(void* elements, ElementType type, Pattern pattern, std::uint64_t count,
          std::uint64_t seed, cudaStream_t stream) {
  visit_element_type(type, [&](auto zero) {
    using T = decltype(zero);
    cuda::launch("filling an array on the GPU", fill_kernel<T>, {blocks, threads, stream},
                 static_cast<T*>(elements), pattern, count, seed);
  });
}

}  // namespace warpfold::bench::kernels
