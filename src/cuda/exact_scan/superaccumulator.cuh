#pragma once

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/exact_scan/window.cuh"
#include "cuda/primitives/warp.cuh"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

inline constexpr int full_width_digits = ExactSum::limbs;
/// In addition to NonFiniteFlag: the sum is at full width, in the digits of a superaccumulator.
inline constexpr std::uint32_t full_width_flag = 32;
/// In addition to NonFiniteFlag: the sum leaves out the remainders of elements.
inline constexpr std::uint32_t remainder_flag = 8;
/// The exponent of the least digit's unit.
inline constexpr int least_unit = -32 * ExactSum::low_limbs;

/// Returns digit i of units * 2^place in two's complement.
__device__ inline std::uint32_t digit_of(std::int64_t units, int place, int i) {
  const int shift = 32 * i - place;
  if (shift <= -32) return 0;
  return static_cast<std::uint32_t>(
      shift < 0 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(units) << -shift)
                : units >> min(shift, 63));
}

/// A superaccumulator (Kulisch) spread over a warp: all digits of an ExactSum, in two's complement,
/// three a lane. By a whole warp.
struct WarpSuperaccumulator {
  static constexpr int per_lane = 3;
  static constexpr int lanes = (full_width_digits + per_lane) / per_lane;
  static_assert(lanes <= warp::lanes);

  std::uint64_t digit[per_lane];  ///< with pending carries

  static __device__ int place(int k) { return per_lane * warp::lane() + k; }
  static __device__ bool has(int k) { return place(k) < full_width_digits; }

  __device__ void add(const std::uint32_t* digits) {
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      if (has(k)) digit[k] += digits[place(k)];
  }

  __device__ void add(const WarpSuperaccumulator& other) {
#pragma unroll
    for (int k = 0; k < per_lane; ++k) digit[k] += other.digit[k];
  }

  __device__ void subtract(const std::uint32_t* digits) {
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      if (has(k)) digit[k] += std::uint64_t{~digits[place(k)]} + (place(k) == 0 ? 1 : 0);
  }

  /// Adds units * 2^exponent, the same in all lanes.
  __device__ void add(std::int64_t units, int exponent) {
    if (units == 0) return;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) digit[k] += digit_of(units, exponent - least_unit, place(k));
  }

  __device__ void add(const WindowSum& units, int top) {
#pragma unroll
    for (int i = 0; i < window_slices; ++i) add(units.slice[i], slice_unit(top, i));
  }

  /// Sets it to a number of signed digits of 16 bits, of magnitudes below 2^31 each.
  __device__ void set(const std::int32_t* half_digits) {
    // The digits are made positive by what is then taken from the next ones.
    constexpr std::int64_t lent = std::int64_t{1} << 48;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const std::int32_t* const halves = half_digits + 2 * place(k);
      digit[k] = has(k) ? static_cast<std::uint64_t>(halves[0] + (std::int64_t{halves[1]} << 16) +
                                                     lent - (place(k) == 0 ? 0 : lent >> 32))
                        : 0;
    }
    normalize();
  }

  /// Propagates carries; what leaves the last digit is lost.
  __device__ void normalize() {
    std::uint32_t carry = warp::shuffle_up(static_cast<std::uint32_t>(carry_through(0)), 1);
    if (warp::lane() == 0) carry = 0;
    const bool overflows = carry_through(carry) != 0;
    bool passes_on = true;
#pragma unroll
    for (const std::uint64_t each : digit) passes_on = passes_on && each == 0xffffffffu;
    const std::uint32_t generating = warp::ballot(overflows);
    const std::uint32_t passing = warp::ballot(passes_on);
    const std::uint32_t carried = (passing + (generating << 1)) ^ passing;
    carry_through(carried >> warp::lane() & 1);
  }

  __device__ void store(std::uint32_t* digits) const {
#pragma unroll
    for (int k = 0; k < per_lane; ++k)
      if (has(k)) digits[place(k)] = static_cast<std::uint32_t>(digit[k]);
  }

  /// The functions below are for normalized numbers.
  __device__ bool any() const {
    bool own = false;
#pragma unroll
    for (const std::uint64_t each : digit) own = own || each != 0;
    return warp::any(own);
  }

  __device__ bool negative() const {
    constexpr int last = full_width_digits - 1;
    return (warp::shuffle(static_cast<std::uint32_t>(digit[last % per_lane]), last / per_lane) >>
            31) != 0;
  }

  /// Returns the exponent of a power of two above the number, or equal to it; of zero the least.
  __device__ int exponent() const {
    const std::uint32_t sign = negative() ? ~0u : 0u;
    std::uint32_t bits = 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const std::uint32_t magnitude = static_cast<std::uint32_t>(digit[k]) ^ sign;
      if (has(k) && magnitude != 0)
        bits = static_cast<std::uint32_t>(32 * place(k) + 64 - leading_zeros(magnitude));
    }
    return least_unit + static_cast<int>(warp::maximum(bits)) + (sign != 0 ? 1 : 0);
  }

  /// Sets `units` to the number over 2^unit, rounded downwards, and `more` to whether that drops
  /// bits; tells whether it is below 2^126. `digits` is scratch memory for full_width_digits.
  __device__ bool in_units(int unit, std::uint32_t* digits, int128& units, bool& more) const {
    const int first = (unit - least_unit) >> 5;
    const int bits = (unit - least_unit) & 31;
    const std::uint32_t sign = negative() ? ~0u : 0u;
    store(digits);
    __syncwarp();
    uint128 words = 0;
#pragma unroll
    for (int i = 3; i >= 0; --i) {
      const auto word = [&](int k) { return k < full_width_digits ? digits[k] : sign; };
      words = words << 32 | __funnelshift_r(word(first + i), word(first + i + 1), bits);
    }
    units = static_cast<int128>(words);
    bool below = false;
    bool above = (static_cast<std::uint32_t>(words >> 96) ^ sign) >> 30 != 0;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const auto own = static_cast<std::uint32_t>(digit[k]);
      const std::uint32_t magnitude = has(k) ? own ^ sign : 0;
      below = below || (place(k) < first && own != 0) ||
              (place(k) == first && (own & ((1u << bits) - 1)) != 0);
      above =
          above || (place(k) > first + 3 && magnitude >> (place(k) == first + 4 ? bits : 0) != 0);
    }
    more = warp::any(below);
    return !warp::any(above);
  }

  /// Moves to the slices of a window what these hold of a number below 2^top; keeps the rest, in
  /// [0, the last slice's unit). `digits` is scratch memory for full_width_digits.
  __device__ WindowSum take(int top, std::uint32_t* digits) {
    store(digits);
    __syncwarp();
    const std::uint32_t sign =
        static_cast<std::int32_t>(digits[full_width_digits - 1]) < 0 ? ~0u : 0u;
    const auto word = [&](int i) { return i < 0 ? 0 : i < full_width_digits ? digits[i] : sign; };
    WindowSum units;
#pragma unroll
    for (int i = 0; i < window_slices; ++i) {
      const int bit = slice_unit(top, i) - least_unit;
      const int first = bit >> 5;
      const std::uint32_t low = __funnelshift_r(word(first), word(first + 1), bit & 31);
      const std::uint32_t high = __funnelshift_r(word(first + 1), word(first + 2), bit & 31);
      const auto bits = static_cast<std::int64_t>(std::uint64_t{high} << 32 | low);
      units.slice[i] = i == 0 ? bits : bits & slice_mask;
    }
    const int end = slice_unit(top, window_slices - 1) - least_unit;
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      const int kept = end - 32 * place(k);
      if (kept <= 0)
        digit[k] = 0;
      else if (kept < 32)
        digit[k] &= (std::uint64_t{1} << kept) - 1;
    }
    __syncwarp();
    return units;
  }

 private:
  /// Adds to the lane's least digit; returns the carry out of its greatest.
  __device__ std::uint64_t carry_through(std::uint64_t carry) {
#pragma unroll
    for (int k = 0; k < per_lane; ++k) {
      carry += digit[k];
      digit[k] = has(k) ? carry & 0xffffffffu : 0;
      carry >>= 32;
    }
    return carry;
  }
};

}  // namespace warpfold::cuda::kernels
