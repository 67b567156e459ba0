#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/int128.hpp"

/// Exact sums in a few doubles (Shewchuk, Discrete & Computational Geometry 18, 1997).
namespace warpfold {

/// An expansion is a sum of doubles as the unevaluated sum of four of them.
struct Expansion {
  double part[4] = {};
};

/// Addends up to this size leave 2^53 of them room below infinity.
inline constexpr double largest_addend = 0x1p970;

/// Roots in this range (and 0) have squares that square_of() gives exactly, and that are addends.
inline constexpr double min_root = 0x1p-480;
inline constexpr double largest_root = 0x1p485;

/// Returns whether an expansion takes the value: not NaN, not an infinity.
WARPFOLD_HD inline bool is_addend(double value) {
  return value >= -largest_addend && value <= largest_addend;
}

WARPFOLD_HD inline bool is_root(double value) {
  const double size = value < 0.0 ? -value : value;
  return size == 0.0 || (size >= min_root && size <= largest_root);
}

/// Adds `addend`, |addend| <= largest_addend; returns what the sum has no room for, nearly always
/// 0.
WARPFOLD_HD inline double add(Expansion& sum, double addend) {
  for (double& part : sum.part) {
    const DoublePair taken = two_sum(part, addend);
    part = taken.high;
    addend = taken.low;
  }
  return addend;
}

/// Adds `addend` to `sum`; calls spill(double) for each number that the sum has no room for.
template <class Spill>
WARPFOLD_HD void add(Expansion& sum, const Expansion& addend, Spill&& spill) {
  for (const double part : addend.part) {
    const double rest = add(sum, part);
    if (rest != 0.0) spill(rest);
  }
}

/// Squares a double for which is_root() holds.
WARPFOLD_HD inline DoublePair square_of(double root) {
  const double square = root * root;
  return {square, fma(root, root, -square)};
}

/// Calls emit(double) for doubles whose sum is the integer.
template <class Emit>
WARPFOLD_HD void split_integer(std::int64_t value, Emit&& emit) {
  emit(static_cast<double>(value >> 32) * 0x1p32);
  emit(static_cast<double>(static_cast<std::uint32_t>(value)));
}

template <class Emit>
WARPFOLD_HD void split_integer(std::uint64_t value, Emit&& emit) {
  emit(static_cast<double>(value >> 32) * 0x1p32);
  emit(static_cast<double>(static_cast<std::uint32_t>(value)));
}

/// Calls emit(double) for doubles whose sum is the integer's square.
template <class Emit>
WARPFOLD_HD void split_square(std::uint64_t magnitude, Emit&& emit) {
  const uint128 square = static_cast<uint128>(magnitude) * magnitude;
  constexpr std::uint64_t digit = (std::uint64_t{1} << 48) - 1;
  emit(static_cast<double>(static_cast<std::uint64_t>(square >> 96)) * 0x1p96);
  emit(static_cast<double>(static_cast<std::uint64_t>(square >> 48) & digit) * 0x1p48);
  emit(static_cast<double>(static_cast<std::uint64_t>(square) & digit));
}

/// Returns the same sum, of falling magnitude: each part at most half a unit in the last place of
/// the one before it, zeros last.
WARPFOLD_HD inline Expansion normalized(Expansion sum) {
  if (sum.part[2] == 0.0 && sum.part[3] == 0.0) {
    const DoublePair pair = two_sum(sum.part[0], sum.part[1]);
    return {{pair.high, pair.low, 0.0, 0.0}};
  }
  for (bool moved = true; moved;) {
    moved = false;
    for (int i = 2; i >= 0; --i) {
      const DoublePair pair = two_sum(sum.part[i], sum.part[i + 1]);
      moved = moved || pair.high != sum.part[i];
      sum.part[i] = pair.high;
      sum.part[i + 1] = pair.low;
    }
  }
  return sum;
}

/// Rounds a normalized sum to the nearest double, ties to even.
WARPFOLD_HD inline double rounded_normalized(const Expansion& sum) {
  const double nearest = sum.part[0];
  const double rest = sum.part[1];
  // If `rest` is half a unit in the last place, the next part breaks the tie.
  if ((rest < 0.0 && sum.part[2] < 0.0) || (rest > 0.0 && sum.part[2] > 0.0)) {
    const double unit = 2.0 * rest;
    const double next = nearest + unit;
    if (next - nearest == unit) return next;
  }
  return nearest + 0.0;
}

/// Returns a normalized sum where it is a double; otherwise the one of the two doubles around it
/// whose last bit is set, so that rounding it to a shorter format rounds the sum itself (Boldo and
/// Melquiond, IEEE Transactions on Computers 57(4), 2008).
WARPFOLD_HD inline double rounded_to_odd(const Expansion& sum) {
  const auto bits = std::bit_cast<std::uint64_t>(sum.part[0]);
  if (sum.part[1] == 0.0 || (bits & 1) != 0) return sum.part[0] + 0.0;
  const bool away = (sum.part[1] > 0.0) == (sum.part[0] > 0.0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

/// Rounds the sum once to a floating-point element, ties to even.
template <class Out>
WARPFOLD_HD Out rounded_to(const Expansion& sum) {
  const Expansion parts = normalized(sum);
  if constexpr (std::is_same_v<Out, double>)
    return rounded_normalized(parts);
  else
    return output_element<Out>(rounded_to_odd(parts));
}

/// Returns a sum of integers, of less than 127 bits.
WARPFOLD_HD inline int128 whole_number(const Expansion& sum) {
  uint128 total = 0;
  for (const double part : sum.part) {
    const ScaledInteger number = scaled_integer(part);
    const uint128 magnitude =
        number.exponent < 0
            ? number.exponent > -64 ? number.magnitude >> -number.exponent : std::uint64_t{0}
            : uint128{number.magnitude} << number.exponent;
    total += number.negative ? -magnitude : magnitude;
  }
  return static_cast<int128>(total);
}

}  // namespace warpfold
