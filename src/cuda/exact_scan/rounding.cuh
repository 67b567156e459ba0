#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/exact_scan.hpp"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"

/// Rounding of prefixes to output elements, and counting of non-finite elements.
namespace warpfold::cuda::kernels {

/// Returns the lower word by an intrinsic: the compiler tests a bit of a cast in 64 bits.
__device__ inline std::uint32_t low_word(double value) {
#ifdef __CUDA_ARCH__
  return static_cast<std::uint32_t>(__double2loint(value));
#else
  return static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(value));
#endif
}

/// Returns a + b rounded to odd: if the sum is not a double, the neighbour whose last bit is set.
/// Rounding that to at least two bits fewer, or adding it to a number that is large enough, gives
/// what the sum itself would. (S. Boldo, G. Melquiond, Emulation of a FMA and correctly rounded
/// sums: proved algorithms using rounding to odd, IEEE Trans. Comput. 57, 2008.)
__device__ inline double sum_to_odd(double a, double b) {
  const double below = __dadd_rd(a, b);
  const double above = __dadd_ru(a, b);
  return (low_word(below) & 1) != 0 ? below : above;
}

/// Clears the last bits of a number, those of `mask`; sets the one before them where any was set.
__device__ inline double last_bits_to_odd(double value, std::uint32_t mask) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto last = static_cast<std::uint32_t>(bits);
  const std::uint32_t kept = (last | ((last & mask) + mask)) & ~mask;
  return std::bit_cast<double>(bits >> 32 << 32 | kept);
}

/// Rounds high + low to an output element: once to a double; otherwise first to a double, to odd,
/// upwards or downwards.
template <class Out>
class OutputRounding {
 public:
  using Bits = typename PlacedFloat<Out>::Bits;

  __device__ explicit OutputRounding(const ScannedArray& array) : format_(array.output_format) {}

  /// Returns the double that bits_of() rounds to the nearest element.
  __device__ static double sum(double high, double low) {
    return std::is_same_v<Out, double> ? high + low : sum_to_odd(high, low);
  }

  __device__ Bits bits_of(double value) const {
    if constexpr (std::is_same_v<Out, AnyFloat16>)
      return format_.rounded(value);
    else
      return std::bit_cast<Bits>(static_cast<Out>(value));
  }

  /// Like bits_of(); NaN becomes the canonical one.
  __device__ Bits bits_of_any(double value) const {
    if constexpr (std::is_same_v<Out, AnyFloat16>)
      return format_.rounded(value);
    else
      return std::bit_cast<Bits>(output_element<Out>(value));
  }

  __device__ Bits up(double high, double low) const {
    if constexpr (std::is_same_v<Out, double>)
      return std::bit_cast<Bits>(high + low);
    else
      return bits_of(__dadd_ru(high, low));
  }
  __device__ Bits down(double high, double low) const {
    if constexpr (std::is_same_v<Out, double>)
      return std::bit_cast<Bits>(high + low);
    else
      return bits_of(__dadd_rd(high, low) + 0.0);  // zeros are +0.0
  }

 private:
  Float16Format format_;
};

template <class In>
__device__ std::uint32_t non_finite_flag(double placed) {
  if (magnitude_word(placed) < PlacedFloat<In>::non_finite_word) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(placed);
  constexpr auto infinity = std::uint64_t{PlacedFloat<In>::non_finite_word} << 32;
  if (bits << 1 != infinity << 1) return nan_flag;
  return bits == infinity ? positive_infinity_flag : negative_infinity_flag;
}

__device__ inline double non_finite_sum(std::uint32_t flags) {
  constexpr std::uint32_t both = positive_infinity_flag | negative_infinity_flag;
  if ((flags & nan_flag) != 0 || (flags & both) == both)
    return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return (flags & positive_infinity_flag) != 0 ? infinity : -infinity;
}

/// Combines the flags of the lanes below.
__device__ inline std::uint32_t flags_below(std::uint32_t flags) {
  std::uint32_t below = 0;
  for (const std::uint32_t flag : {nan_flag, positive_infinity_flag, negative_infinity_flag})
    if ((warp::ballot((flags & flag) != 0) & ((1u << warp::lane()) - 1)) != 0) below |= flag;
  return below;
}

}  // namespace warpfold::cuda::kernels
