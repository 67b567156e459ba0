#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/fixed_point.hpp"
#include "cuda/primitives/comparable.cuh"

namespace warpfold::cuda::kernels {

/// Elements as kernels compare and add them: floats by their bits.
template <class Wide>
using ColumnNumber = std::conditional_t<std::is_integral_v<Wide>, Wide, ComparedDouble>;

/// Returns an integer of the number's order; not for NaN.
template <class Integer>
__device__ Integer order_of(Integer value) {
  return value;
}
__device__ inline std::int64_t order_of(ComparedDouble value) { return value.order(); }

template <class Integer>
__device__ bool is_finite(Integer) {
  return true;
}
__device__ inline bool is_finite(ComparedDouble value) {
  return static_cast<std::uint32_t>(value.bits >> 32) << 1 < 0xffe00000u;
}

template <class Integer>
__device__ bool is_zero(Integer value) {
  return value == 0;
}
__device__ inline bool is_zero(ComparedDouble value) { return value.magnitude() == 0; }

/// Returns a finite number taken apart.
__device__ inline ScaledInteger scaled_number(ComparedDouble value) {
  return scaled_integer(std::bit_cast<double>(value.bits));
}
__device__ inline ScaledInteger scaled_number(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return {value < 0 ? std::uint64_t{0} - bits : bits, 0, value < 0};
}
__device__ inline ScaledInteger scaled_number(std::uint64_t value) { return {value, 0, false}; }

}  // namespace warpfold::cuda::kernels
