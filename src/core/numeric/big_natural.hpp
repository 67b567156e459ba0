#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "core/numeric/fixed_point.hpp"

namespace warpfold {

/// A big natural is a natural number of any size.
class BigNatural {
 public:
  explicit BigNatural(std::uint64_t value);

  /// Takes a normalized, non-negative number times 2^(32 * LowLimbs).
  template <int LowLimbs, int HighLimbs>
  explicit BigNatural(const FixedPoint<LowLimbs, HighLimbs>& number) {
    for (const std::int64_t limb : number.limb) digits_.push_back(static_cast<std::uint32_t>(limb));
    trim();
  }

  /// Counts the bits that the number takes: 0 for zero.
  int bit_length() const;

  bool bit(int position) const;

  /// Returns whether any of the bits at positions less than `position` is set.
  bool any_bit_below(int position) const;

  bool operator==(const BigNatural&) const = default;
  std::strong_ordering operator<=>(const BigNatural& other) const;

  friend BigNatural operator+(const BigNatural& a, const BigNatural& b);
  friend BigNatural operator*(const BigNatural& a, const BigNatural& b);

  /// Needs a >= b.
  friend BigNatural operator-(const BigNatural& a, const BigNatural& b);

  friend BigNatural operator<<(const BigNatural& a, int bits);

 private:
  void trim();

  std::vector<std::uint32_t> digits_;  ///< least first; the last one is not zero
};

}  // namespace warpfold
