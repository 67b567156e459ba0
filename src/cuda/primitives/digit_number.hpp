#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// Some consecutive digits of an ExactSum whose other digits are zero, in two's complement. Rounds
/// as ExactSum does, but reads only the digits that matter.
class DigitNumber {
 public:
  /// Digit i is digits[i * stride] and stands for limb first_limb + i; the last one has the sign.
  /// `lowest` is the least place of a digit that is not zero, or `count`.
  WARPFOLD_HD DigitNumber(const std::uint32_t* digits, int stride, int first_limb, int count,
                          int lowest)
      : digits_(digits),
        stride_(stride),
        count_(count),
        lowest_(lowest),
        exponent_(32 * (first_limb - ExactSum::low_limbs)),
        negative_((digits[(count - 1) * stride] >> 31) != 0) {}

  /// Rounds as ExactSum::rounded() does.
  WARPFOLD_HD double rounded(Rounding rounding = Rounding::nearest) const {
    return with_sign(round(whole(), rounding).value, negative_);
  }

  /// Returns what ExactSum::least_bit() does.
  WARPFOLD_HD int least_bit() const {
    if (lowest_ == count_) return ExactSum::no_bit;
    return 32 * lowest_ + exponent_ + trailing_zeros(digits_[lowest_ * stride_]);
  }

  /// Rounds as ExactSum::rounded_pair() does.
  WARPFOLD_HD DoublePair rounded_pair() const {
    const Rounded high = round(whole(), Rounding::nearest);
    const double value = with_sign(high.value, negative_);
    if (high.value == 0.0) return {value, value};
    const bool negative = negative_ != high.up;
    const Rounded low = round({high.cut, negative}, Rounding::nearest);
    return {value, low.any ? with_sign(low.value, negative) : 0.0};
  }

 private:
  /// The number's bits below bit `end`, modulo 2^end, or the same of its negative.
  struct Part {
    int end;
    bool negated;
  };

  struct Rounded {
    double value;
    int cut;   ///< the place of the last bit kept
    bool up;   ///< away from zero
    bool any;  ///< whether the part was other than zero
  };

  WARPFOLD_HD static double with_sign(double magnitude, bool negative) {
    return negative ? -magnitude : magnitude;
  }

  WARPFOLD_HD Part whole() const { return {32 * count_, negative_}; }

  WARPFOLD_HD std::uint32_t digit(Part part, int place) const {
    if (place < lowest_) return 0;
    std::uint32_t value = digits_[place * stride_];
    if (part.negated) value = place == lowest_ ? 0u - value : ~value;
    return place == part.end >> 5 ? value & ((1u << (part.end & 31)) - 1) : value;
  }

  WARPFOLD_HD Rounded round(Part part, Rounding rounding) const {
    int top = part.end >> 5;
    if (top == count_) --top;
    while (top >= lowest_ && digit(part, top) == 0) --top;
    if (top < lowest_) return {0.0, 0, false, false};
    const std::uint64_t leading = digit(part, top);
    const int lead = 63 - leading_zeros(leading);
    const std::uint32_t third = digit(part, top - 2);
    std::uint64_t significand = (leading << 32 | digit(part, top - 1)) << (31 - lead);
    significand |= std::uint64_t{third} >> (lead + 1);
    const bool sticky = lowest_ < top - 2 || (third & ((std::uint64_t{2} << lead) - 1)) != 0;
    return round(significand, 32 * top + lead, sticky, rounding);
  }

  WARPFOLD_HD Rounded round(std::uint64_t significand, int lead_place, bool sticky,
                            Rounding rounding) const {
    constexpr int smallest_exponent = -1074;
    const int exponent = lead_place + exponent_;
    const double value = round_to_double(significand, exponent, sticky, rounding);
    const int lowest_kept = exponent - 52 > smallest_exponent ? exponent - 52 : smallest_exponent;
    const int dropped = lowest_kept - (exponent - 63);
    const std::uint64_t kept = dropped < 64 ? significand >> dropped : 0;
    const auto field = static_cast<std::uint64_t>(lowest_kept - smallest_exponent);
    const bool up = std::bit_cast<std::uint64_t>(value) != (field << 52) + kept;
    return {value, lowest_kept - exponent_, up, true};
  }

  const std::uint32_t* digits_;
  int stride_;
  int count_;
  int lowest_;
  int exponent_;  ///< of the lowest digit's least bit
  bool negative_;
};

}  // namespace warpfold::cuda::kernels
