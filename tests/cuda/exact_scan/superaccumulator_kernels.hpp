#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// Sums at full width, by a warp.
namespace warpfold::cuda::test {

inline constexpr int digits = 68;
inline constexpr int least_unit = -1088;

/// units * 2^exponent, from 2^least_unit on.
struct Term {
  std::int64_t units;
  int exponent;
};

struct FullWidthSum {
  std::array<std::uint32_t, digits> digit;
  bool any;
  int exponent;
};

/// The part of a sum that a window takes, and the rest.
struct TakenSum {
  std::vector<Term> slices;
  std::array<std::uint32_t, digits> rest;
};

FullWidthSum sum_at_full_width(const std::vector<Term>& terms);
TakenSum taken_by_window(const std::vector<Term>& terms, int top);

/// Returns the digits of a number of signed digits of 16 bits, less a number.
std::array<std::uint32_t, digits> difference(
    const std::array<std::int32_t, 2 * digits>& half_digits,
    const std::array<std::uint32_t, digits>& less);

/// Sums what a window takes of each number; returns the normalized slices.
std::vector<Term> sum_in_window(const std::vector<Term>& terms, int top);

}  // namespace warpfold::cuda::test
