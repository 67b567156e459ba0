#include "core/numeric/exact_rounding.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {
namespace {

/// A long division gives the binary expansion of numerator / denominator, from its leading bit
/// downwards.
class LongDivision {
 public:
  /// Begins with the leading bit; the numerator must not be zero.
  LongDivision(const BigNatural& numerator, uint128 denominator)
      : numerator_(numerator), denominator_(denominator), position_(numerator.bit_length()) {
    while (!next_bit()) {
    }
    leading_position_ = position_;
  }

  int leading_position() const { return leading_position_; }

  /// Returns the first `count` bits, as an integer. To be called once.
  uint128 leading_bits(int count) {
    uint128 bits = 1;
    for (int i = 1; i < count; ++i) bits = bits << 1 | (next_bit() ? 1u : 0u);
    return bits;
  }

  /// Returns whether the bits taken so far are less than the quotient.
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

/// The leading `count` bits of numerator / denominator.
struct LeadingBits {
  uint128 bits = 0;
  int exponent = 0;  ///< exponent of the first
  bool inexact = false;
};

LeadingBits leading_bits(const BigNatural& numerator, const BigNatural& denominator, int count) {
  const int shift = denominator.bit_length() + count - 1 - numerator.bit_length();
  BigNatural rest = numerator << std::max(shift, 0);
  const BigNatural by = denominator << std::max(-shift, 0);
  LeadingBits leading{0, count - 1 - shift, false};
  const auto take = [&](const BigNatural& part) {
    const bool bit = rest >= part;
    if (bit) rest = rest - part;
    leading.bits = leading.bits << 1 | (bit ? 1u : 0u);
  };
  for (int i = count - 1; i >= 0; --i) take(by << i);
  if ((leading.bits >> (count - 1)) == 0) {
    rest = rest << 1;
    take(by);
    --leading.exponent;
  }
  leading.inexact = rest.bit_length() > 0;
  return leading;
}

/// Rounds the square root down.
std::uint64_t integer_sqrt(uint128 square) {
  std::uint64_t root = 0;
  for (int position = 63; position >= 0; --position) {
    const std::uint64_t candidate = root | std::uint64_t{1} << position;
    if (static_cast<uint128>(candidate) * candidate <= square) root = candidate;
  }
  return root;
}

/// Returns whether products of a quotient with a normalized divisor's parts keep all bits: there
/// are two parts, not too far apart.
bool is_divisor(const Expansion& divisor) {
  const double low = std::fabs(divisor.part[1]);
  return divisor.part[2] == 0.0 && divisor.part[0] >= 0x1p-900 && divisor.part[0] <= 0x1p900 &&
         (low == 0.0 || low >= divisor.part[0] * 0x1p-120);
}

/// Returns sum - factor * divisor, normalized, where that is exact.
std::optional<Expansion> remainder(Expansion sum, double factor, const Expansion& divisor) {
  for (int i = 0; i < 2 && divisor.part[i] != 0.0; ++i) {
    const double product = factor * divisor.part[i];
    const double first = add(sum, -product);
    const double second = add(sum, -std::fma(factor, divisor.part[i], -product));
    if (first != 0.0 || second != 0.0) return std::nullopt;
  }
  return normalized(sum);
}

/// Returns the next double from a quotient towards the sign of what remains.
double neighbour(double quotient, double remaining) {
  const auto bits = std::bit_cast<std::uint64_t>(quotient);
  const bool away = (remaining > 0.0) == (quotient > 0.0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

bool is_odd(double number) { return (std::bit_cast<std::uint64_t>(number) & 1) != 0; }

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

double rounded_quotient(const BigNatural& numerator, const BigNatural& denominator, int exponent,
                        Rounding rounding) {
  if (numerator.bit_length() == 0) return 0.0;
  const LeadingBits leading = leading_bits(numerator, denominator, 64);
  return round_to_double(static_cast<std::uint64_t>(leading.bits), leading.exponent + exponent,
                         leading.inexact, rounding);
}

double rounded_sqrt_quotient(const BigNatural& numerator, const BigNatural& denominator,
                             int exponent, Rounding rounding) {
  if (numerator.bit_length() == 0) return 0.0;
  const int first = leading_bits(numerator, denominator, 1).exponent + exponent;
  const bool odd = first % 2 != 0;
  const LeadingBits leading = leading_bits(numerator, denominator, odd ? 128 : 127);
  const std::uint64_t root = integer_sqrt(leading.bits);
  const bool sticky = leading.inexact || static_cast<uint128>(root) * root != leading.bits;
  return round_to_double(root, (first - (odd ? 1 : 0)) / 2, sticky, rounding);
}

std::optional<double> rounded_quotient(const Expansion& sum, const Expansion& divisor,
                                       Rounding rounding) {
  const Expansion dividend = normalized(sum);
  const Expansion by = normalized(divisor);
  const double top = dividend.part[0];
  if (top == 0.0) return 0.0;
  if (std::fabs(top) < min_dividend || !is_divisor(by)) return std::nullopt;
  double quotient = top / by.part[0];
  if (!is_quotient(quotient)) return std::nullopt;
  std::optional<Expansion> rest = remainder(dividend, quotient, by);
  if (!rest) return std::nullopt;
  quotient += rest->part[0] / by.part[0];  // now one of the two doubles around the true quotient
  rest = remainder(dividend, quotient, by);
  if (!rest) return std::nullopt;
  const double remaining = rest->part[0];
  if (remaining == 0.0) return quotient;

  const double next = neighbour(quotient, remaining);
  if (rounding == Rounding::odd) return is_odd(quotient) ? quotient : next;
  // `next` is a unit in the last place away.
  const std::optional<Expansion> behind_half = remainder(*rest, (next - quotient) * 0.5, by);
  if (!behind_half) return std::nullopt;
  const double beyond = behind_half->part[0];
  if (beyond == 0.0) return is_odd(quotient) ? next : quotient;
  return (beyond > 0.0) == (remaining > 0.0) ? next : quotient;
}

std::optional<double> rounded_quotient(const Expansion& sum, std::uint64_t divisor,
                                       Rounding rounding) {
  if (divisor > largest_divisor) return std::nullopt;
  return rounded_quotient(sum, Expansion{{static_cast<double>(divisor)}}, rounding);
}

}  // namespace warpfold
