#pragma once

#include <array>
#include <cstdint>
#include <vector>

/// What a warp makes of a sum in all digits.
namespace warpfold::cuda::test {

inline constexpr int digits = 68;
inline constexpr int least_unit = -1088;

/// units * 2^exponent, from 2^least_unit on.
struct Term {
  std::int64_t units;
  int exponent;
};

struct DigitSum {
  std::array<std::uint32_t, digits> digit;
  bool any;
  int exponent;
};

/// A sum taken apart by a window.
struct TakenSum {
  std::vector<Term> slices;
  std::array<std::uint32_t, digits> rest;
};

DigitSum sum_in_digits(const std::vector<Term>& terms);
TakenSum taken_by_window(const std::vector<Term>& terms, int top);

/// Sums the slices of many numbers of a window, taken apart by it, and puts them in order.
std::vector<Term> sum_in_window(const std::vector<Term>& terms, int top);

}  // namespace warpfold::cuda::test
