#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::testing {

/// How many significant bits a floating-point type has, and the exponent of its least one.
struct Precision {
  int bits;
  int least;
};

template <class Out>
inline constexpr Precision precision_of{};
template <>
inline constexpr Precision precision_of<double>{53, -1074};
template <>
inline constexpr Precision precision_of<float>{24, -149};
template <>
inline constexpr Precision precision_of<Float16>{11, -24};
template <>
inline constexpr Precision precision_of<BFloat16>{8, -133};

/// A sum of doubles as a long integer in two's complement: bit i stands for 2^(i - point).
class LongSum {
 public:
  void add(double x) {
    if (!std::isfinite(x)) {
      special_ += x;
      return;
    }
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(x), &exponent);
    const int place = exponent - 53 + point;
    auto units = static_cast<uint128>(std::ldexp(fraction, 53)) << place % word_bits;
    std::int64_t carry = 0;
    for (auto i = static_cast<std::size_t>(place / word_bits); i < words_.size(); ++i) {
      const auto addend = static_cast<std::int64_t>(units & word_mask);
      carry += static_cast<std::int64_t>(words_[i]) + (x < 0.0 ? -addend : addend);
      words_[i] = static_cast<std::uint64_t>(carry) & word_mask;
      carry >>= word_bits;
      units >>= word_bits;
    }
  }

  /// Rounds once, ties to even.
  template <class Out>
  Out rounded() const {
    if (std::isnan(special_)) return element_of<Out>(std::numeric_limits<double>::quiet_NaN());
    if (std::isinf(special_)) return element_of<Out>(special_);
    const bool negative = words_.back() >> (word_bits - 1) != 0;
    const double magnitude = (negative ? negated() : *this).rounded_magnitude(precision_of<Out>);
    return element_of<Out>(negative ? -magnitude : magnitude);
  }

 private:
  static constexpr int word_bits = 32;
  static constexpr std::uint64_t word_mask = 0xffffffff;
  static constexpr int point = 1152;

  template <class Out>
  static Out element_of(double value) {
    if constexpr (std::is_arithmetic_v<Out>)
      return static_cast<Out>(value);
    else
      return Out::from_double(value);
  }

  LongSum negated() const {
    LongSum result;
    std::uint64_t carry = 1;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += words_[i] ^ word_mask;
      result.words_[i] = carry & word_mask;
      carry >>= word_bits;
    }
    return result;
  }

  int bit(int i) const {
    return static_cast<int>(words_[static_cast<std::size_t>(i / word_bits)] >> i % word_bits & 1);
  }

  bool any_below(int end) const {
    for (int i = 0; i < end / word_bits; ++i)
      if (words_[static_cast<std::size_t>(i)] != 0) return true;
    for (int i = end / word_bits * word_bits; i < end; ++i)
      if (bit(i) != 0) return true;
    return false;
  }

  double rounded_magnitude(Precision precision) const {
    int top = static_cast<int>(words_.size()) - 1;
    while (top > 0 && words_[static_cast<std::size_t>(top)] == 0) --top;
    top = top * word_bits + word_bits - 1;
    while (top >= 0 && bit(top) == 0) --top;
    if (top < 0) return 0.0;
    const int least = std::max(top - precision.bits + 1, precision.least + point);
    double kept = 0.0;
    for (int i = top; i >= least; --i) kept = 2.0 * kept + bit(i);
    if (bit(least - 1) != 0 && (any_below(least - 1) || bit(least) != 0)) kept += 1.0;
    return std::ldexp(kept, least - point);
  }

  std::array<std::uint64_t, 72> words_{};
  double special_ = 0.0;  ///< the sum of what is not finite
};

/// Returns the prefix sums of elements, each rounded once.
template <class Out, class T>
std::vector<Out> exact_prefixes(const std::vector<T>& elements, bool exclusive) {
  LongSum sum;
  std::vector<Out> prefixes;
  prefixes.reserve(elements.size());
  for (const T element : elements) {
    if (exclusive) prefixes.push_back(sum.rounded<Out>());
    sum.add(widened(element));
    if (!exclusive) prefixes.push_back(sum.rounded<Out>());
  }
  return prefixes;
}

}  // namespace warpfold::testing
