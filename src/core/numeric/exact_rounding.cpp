#include "core/numeric/exact_rounding.hpp"

#include <cstdint>

namespace warpfold {
namespace {

/// The binary expansion of numerator / denominator, from its leading bit downwards.
class LongDivision {
 public:
  /// The numerator must not be zero.
  LongDivision(const BigNatural& numerator, uint128 denominator)
      : numerator_(numerator), denominator_(denominator), position_(numerator.bit_length()) {
    while (!next_bit()) {
    }
    leading_position_ = position_;
  }

  int leading_position() const { return leading_position_; }

  /// The first `count` bits, as an integer. To be called once.
  uint128 leading_bits(int count) {
    uint128 bits = 1;
    for (int i = 1; i < count; ++i) bits = bits << 1 | (next_bit() ? 1u : 0u);
    return bits;
  }

  /// Whether the bits taken so far are less than the quotient.
  bool inexact() const { return remainder_ != 0 || numerator_.any_bit_below(position_); }

 private:
  bool next_bit() {
    --position_;
    remainder_ = remainder_ << 1 | (numerator_.bit(position_) ? 1u : 0u);
    if (remainder_ < denominator_) return false;
    remainder_ -= denominator_;
    return true;
  }

  const BigNatural& numerator_;
  uint128 denominator_;
  uint128 remainder_ = 0;
  int position_;
  int leading_position_;
};

/// The square root rounded down.
std::uint64_t integer_sqrt(uint128 square) {
  std::uint64_t root = 0;
  for (int position = 63; position >= 0; --position) {
    const std::uint64_t candidate = root | std::uint64_t{1} << position;
    if (static_cast<uint128>(candidate) * candidate <= square) root = candidate;
  }
  return root;
}

}  // namespace

double rounded_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                        Rounding rounding) {
  if (numerator.bit_length() == 0) return 0.0;
  LongDivision division(numerator, denominator);
  const auto significand = static_cast<std::uint64_t>(division.leading_bits(64));
  return round_to_double(significand, division.leading_position() + exponent, division.inexact(),
                         rounding);
}

double rounded_sqrt_quotient(const BigNatural& numerator, uint128 denominator, int exponent,
                             Rounding rounding) {
  if (numerator.bit_length() == 0) return 0.0;
  LongDivision division(numerator, denominator);
  const int leading_exponent = division.leading_position() + exponent;
  const bool odd = leading_exponent % 2 != 0;
  // The root of 127 or 128 bits has 64; which of both leaves an even exponent to halve.
  const uint128 square = division.leading_bits(odd ? 128 : 127);
  const std::uint64_t root = integer_sqrt(square);
  const bool sticky = division.inexact() || static_cast<uint128>(root) * root != square;
  return round_to_double(root, (leading_exponent - (odd ? 1 : 0)) / 2, sticky, rounding);
}

}  // namespace warpfold
