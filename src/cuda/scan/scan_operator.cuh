#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "cuda/runtime/kernel_types.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/scan_operation.hpp"

/// Operators of array scans. An operator has the types Input, Value (4 or 8 bytes, in which it
/// computes) and Output, and the functions identity(), load(Input), operator()(left, right) and
/// store(Value). It is associative; floating-point sums up to rounding.
namespace warpfold::cuda::kernels {

/// Sums modulo 2^width of integer outputs, in the output type's own arithmetic for f32 and f64.
template <class In, class Out>
struct SumOperator {
  using Input = In;
  using Output = Out;
  using Value =
      std::conditional_t<std::is_floating_point_v<Out> || sizeof(Out) == 8, Out, std::uint32_t>;

  __device__ static Value identity() { return Value{0}; }
  __device__ static Value load(In element) { return static_cast<Value>(element); }
  __device__ static Out store(Value value) { return static_cast<Out>(value); }
  __device__ Value operator()(Value left, Value right) const { return left + right; }
};

/// Running minima or maxima: of equal values (-0.0 and +0.0) the first, of NaN on NaN alone, in the
/// end the quiet one of numeric_limits. Instructions for the greater of two floats, which compilers
/// find here, change a NaN's bits; those of a double stay.
template <class T, bool Maximum>
struct ExtremumOperator {
  using Input = T;
  using Output = T;
  using Value =
      std::conditional_t<std::is_floating_point_v<T> || sizeof(T) == 8, T,
                         std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>>;

  __device__ static Value identity() {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>)
      return Maximum ? -Limits::infinity() : Limits::infinity();
    else
      return Maximum ? Limits::lowest() : Limits::max();
  }
  __device__ static Value load(T element) {
    if constexpr (std::is_same_v<T, double>) return with_quiet_nan(element);
    return element;
  }
  __device__ static T store(Value value) {
    if constexpr (std::is_same_v<T, float>) return with_quiet_nan(value);
    return static_cast<T>(value);
  }

  __device__ Value operator()(Value left, Value right) const {
    // False where either is a NaN.
    const bool stays = Maximum ? right <= left : right >= left;
    return stays || is_nan(left) ? left : right;
  }

 private:
  __device__ static Value with_quiet_nan(Value value) {
    return value == value ? value : std::numeric_limits<Value>::quiet_NaN();
  }

  /// Tells NaN, of doubles by the upper 32 bits: units that compare them are few.
  __device__ static bool is_nan(Value value) {
    if constexpr (std::is_same_v<Value, double>)
      return std::bit_cast<std::uint64_t>(value) >> 32 == 0x7ff80000u;
    else
      return value != value;
  }
};

/// Calls visitor(operator) for the sum of integers into as many bits, or into 32 or 64.
template <class In, class Visitor>
void visit_integer_sum(ElementType output, Visitor&& visitor) {
  using Unsigned = std::make_unsigned_t<In>;
  if (size_of(output) == sizeof(In)) return visitor(SumOperator<Unsigned, Unsigned>{});
  if constexpr (sizeof(In) < 8)
    if (size_of(output) == 8) return visitor(SumOperator<In, std::uint64_t>{});
  if constexpr (sizeof(In) < 4) visitor(SumOperator<In, std::uint32_t>{});
}

/// Returns the value of the output element whose bits these are.
template <class Operator>
typename Operator::Value carried_value(std::uint64_t output_bits) {
  typename Operator::Output output;
  std::memcpy(&output, &output_bits, sizeof(output));
  return static_cast<typename Operator::Value>(output);
}

/// Calls visitor(operator) for the operator that scans `input` to `output`, for types that
/// OnePassScan::supports().
template <class Visitor>
void visit_scan_operator(ElementType input, ElementType output, ScanOperation operation,
                         Visitor&& visitor) {
  visit_kernel_type(input, [&](auto element) {
    using In = decltype(element);
    if constexpr (std::is_arithmetic_v<In>) {
      if (operation == ScanOperation::min)
        visitor(ExtremumOperator<In, false>{});
      else if (operation == ScanOperation::max)
        visitor(ExtremumOperator<In, true>{});
      else if constexpr (std::is_integral_v<In>)
        visit_integer_sum<In>(output, visitor);
      else
        visitor(SumOperator<In, In>{});
    }
  });
}

}  // namespace warpfold::cuda::kernels
