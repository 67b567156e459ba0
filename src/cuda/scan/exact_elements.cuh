#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/numeric/rounding.hpp"
#include "core/numeric/slices.hpp"
#include "cuda/primitives/lane_elements.cuh"
#include "cuda/primitives/placed_float.hpp"
#include "cuda/primitives/warp.cuh"
#include "cuda/scan/exact_scan.hpp"
#include "cuda/scan/exact_shape.cuh"

/// The elements of a segment: those in its slot, what of them is not finite, and their rounding.
namespace warpfold::cuda::kernels {

/// Returns a + b; what is not a double becomes the one beside it whose last bit is set. Rounded
/// again to fewer bits, by two at least, or added to a number that is large enough, that is as good
/// as the sum itself. (S. Boldo, G. Melquiond, Emulation of a FMA and correctly rounded sums:
/// proved algorithms using rounding to odd, IEEE Trans. Comput. 57, 2008.)
__device__ inline double sum_to_odd(double a, double b) {
  const double below = __dadd_rd(a, b);
  const double above = __dadd_ru(a, b);
  return (std::bit_cast<std::uint64_t>(below) & 1) != 0 ? below : above;
}

/// Clears the last bits of a number, those of `mask`; sets the one before them where any was set.
__device__ inline double last_bits_to_odd(double value, std::uint32_t mask) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  const auto last = static_cast<std::uint32_t>(bits);
  const std::uint32_t kept = (last | ((last & mask) + mask)) & ~mask;
  return std::bit_cast<double>(bits >> 32 << 32 | kept);
}

/// high + low rounded to an output element: once to a double, else to odd, upwards or downwards on
/// the way.
template <class Out>
class OutputRounding {
 public:
  using Bits = typename PlacedFloat<Out>::Bits;

  __device__ explicit OutputRounding(const ScannedArray& array) : format_(array.output_format) {}

  /// What bits_of() rounds to the nearest.
  __device__ static double sum(double high, double low) {
    return std::is_same_v<Out, double> ? high + low : sum_to_odd(high, low);
  }

  __device__ Bits bits_of(double value) const {
    if constexpr (std::is_same_v<Out, AnyFloat16>)
      return format_.rounded(value);
    else
      return std::bit_cast<Bits>(static_cast<Out>(value));
  }

  /// Likewise, but for NaN: the canonical one.
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
__device__ std::uint32_t flag_of(double placed) {
  if (magnitude_word(placed) < PlacedFloat<In>::non_finite_word) return 0;
  const auto bits = std::bit_cast<std::uint64_t>(placed);
  constexpr auto infinity = std::uint64_t{PlacedFloat<In>::non_finite_word} << 32;
  if (bits << 1 != infinity << 1) return nan_flag;
  return bits == infinity ? positive_infinity_flag : negative_infinity_flag;
}

__device__ inline double special_of(std::uint32_t flags) {
  constexpr std::uint32_t both = positive_infinity_flag | negative_infinity_flag;
  if ((flags & nan_flag) != 0 || (flags & both) == both)
    return std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  return (flags & positive_infinity_flag) != 0 ? infinity : -infinity;
}

/// Calls visit(bits, k) for each of a lane's elements in the slot.
template <class Shape, class Visit>
__device__ void for_each_in_slot(WarpVectors<Shape::vectors>& slot, Visit visit) {
#pragma unroll 1
  for (int j = 0; j < Shape::in_vectors; ++j) {
    const auto elements = std::bit_cast<LaneElements<typename Shape::InBits, Shape::in_count>>(
        slot.at(warp::lane() * Shape::in_vectors + j));
#pragma unroll
    for (int k = 0; k < Shape::in_count; ++k) visit(elements.element[k], j * Shape::in_count + k);
  }
}

/// Replaces the slot's elements by what prefix_after() returns.
template <class In, class Out, class PrefixAfter>
__device__ void replace_elements(WarpVectors<ExactShape<In, Out>::vectors>& slot,
                                 PrefixAfter& prefix_after) {
  using Shape = ExactShape<In, Out>;
  using Elements = LaneElements<typename Shape::InBits, Shape::in_count>;
  constexpr int vectors = Shape::in_vectors;
  if constexpr (sizeof(In) == sizeof(Out)) {
    uint4 next = slot.template of_lane<vectors>(0);
#pragma unroll
    for (int j = 0; j < Shape::in_vectors; ++j) {
      const auto elements = std::bit_cast<Elements>(next);
      if (j + 1 < Shape::in_vectors) next = slot.template of_lane<vectors>(j + 1);
      LaneElements<typename Shape::OutBits, Shape::out_count> prefixes;
#pragma unroll
      for (int k = 0; k < Shape::out_count; ++k)
        prefixes.element[k] = prefix_after(elements.element[k]);
      slot.template of_lane<vectors>(j) = packed(prefixes);
    }
  } else {
    LanePrefixes<Shape> prefixes;
#pragma unroll
    for (int j = 0; j < Shape::in_vectors; ++j) {
      const auto elements = std::bit_cast<Elements>(slot.template of_lane<vectors>(j));
#pragma unroll
      for (int k = 0; k < Shape::in_count; ++k)
        prefixes.element[j * Shape::in_count + k] = prefix_after(elements.element[k]);
    }
    __syncwarp();
    store_prefixes(slot, prefixes);
  }
}

/// Combines the flags of the lanes below.
__device__ inline std::uint32_t flags_below(std::uint32_t flags) {
  std::uint32_t below = 0;
  for (const std::uint32_t flag : {nan_flag, positive_infinity_flag, negative_infinity_flag})
    if ((warp::ballot((flags & flag) != 0) & ((1u << warp::lane()) - 1)) != 0) below |= flag;
  return below;
}

}  // namespace warpfold::cuda::kernels
