#include "core/numeric/exact_number.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <system_error>

#include "core/base/text.hpp"

namespace warpfold {
namespace {

/// Decimal and binary exponents of leading digits beyond which a number is huge or tiny.
constexpr std::int64_t far_decimal = 400;
constexpr std::int64_t far_binary = 1200;

int digit_value(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  return 16;
}

/// Returns the integer that all of `text` is; those beyond any use stand for one another.
std::optional<std::int64_t> parse_exponent(std::string_view text) {
  constexpr std::int64_t beyond = std::int64_t{1} << 40;
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t exponent = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
  if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
  if (error == std::errc::result_out_of_range) return text.starts_with('-') ? -beyond : beyond;
  return std::clamp(exponent, -beyond, beyond);
}

/// Digits without the zeros in front, and how many of them follow the point.
struct Digits {
  std::string significant;
  std::int64_t after_point = 0;
};

std::optional<Digits> parse_mantissa(std::string_view text, int base) {
  Digits digits;
  bool any = false;
  bool point = false;
  for (const char character : text) {
    if (character == '.' && !point) {
      point = true;
      continue;
    }
    if (digit_value(character) >= base) return std::nullopt;
    any = true;
    if (point) ++digits.after_point;
    if (character != '0' || !digits.significant.empty()) digits.significant += character;
  }
  if (!any) return std::nullopt;
  return digits;
}

BigNatural natural_of(std::string_view digits, int base) {
  BigNatural number(0);
  const BigNatural wide_base(static_cast<std::uint64_t>(base));
  for (const char digit : digits)
    number = number * wide_base + BigNatural(static_cast<std::uint64_t>(digit_value(digit)));
  return number;
}

BigNatural power_of_ten(std::int64_t exponent) {
  BigNatural power(1);
  const BigNatural ten(10);
  for (std::int64_t i = 0; i < exponent; ++i) power = power * ten;
  return power;
}

std::strong_ordering reversed(std::strong_ordering order) { return 0 <=> order; }

}  // namespace

ExactNumber::ExactNumber(const ScaledInteger& value)
    : negative_(value.negative),
      kind_(Kind::finite),
      numerator_(value.magnitude),
      exponent_(value.exponent) {}

std::optional<ExactNumber> ExactNumber::parse(std::string_view text) {
  if (text.size() > max_characters) return std::nullopt;
  const std::string lower = lowered(text);
  std::string_view rest = lower;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  if (rest == "inf" || rest == "infinity") return ExactNumber(negative, Kind::infinite);
  const bool hexadecimal = rest.starts_with("0x");
  if (hexadecimal) rest.remove_prefix(2);
  return parse_digits(rest, negative, hexadecimal);
}

std::optional<ExactNumber> ExactNumber::parse_digits(std::string_view text, bool negative,
                                                     bool hexadecimal) {
  const int base = hexadecimal ? 16 : 10;
  const std::size_t mark = text.find(hexadecimal ? 'p' : 'e');
  const auto digits = parse_mantissa(text.substr(0, mark), base);
  const auto exponent = mark == std::string_view::npos ? std::optional<std::int64_t>(0)
                                                       : parse_exponent(text.substr(mark + 1));
  if (!digits || !exponent) return std::nullopt;
  ExactNumber number(negative, Kind::finite);
  if (digits->significant.empty()) return number;

  const std::int64_t unit = *exponent - (hexadecimal ? 4 : 1) * digits->after_point;
  const auto length = static_cast<std::int64_t>(digits->significant.size());
  const std::int64_t leading = unit + (hexadecimal ? 4 : 1) * length;
  const std::int64_t far = hexadecimal ? far_binary : far_decimal;
  if (leading > far) return ExactNumber(negative, Kind::huge);
  if (leading < -far) return ExactNumber(negative, Kind::tiny);
  number.numerator_ = natural_of(digits->significant, base);
  if (hexadecimal)
    number.exponent_ = static_cast<int>(unit);
  else if (unit >= 0)
    number.numerator_ = number.numerator_ * power_of_ten(unit);
  else
    number.denominator_ = power_of_ten(-unit);
  return number;
}

std::strong_ordering ExactNumber::compare_magnitude(std::uint64_t magnitude, int exponent) const {
  if (kind_ == Kind::infinite || kind_ == Kind::huge) return std::strong_ordering::greater;
  if (kind_ == Kind::tiny)
    return magnitude == 0 ? std::strong_ordering::greater : std::strong_ordering::less;
  const int shift = exponent_ - exponent;
  return (numerator_ << std::max(shift, 0)) <=>
         ((denominator_ * BigNatural(magnitude)) << std::max(-shift, 0));
}

std::strong_ordering ExactNumber::compare(const ScaledInteger& other) const {
  const bool other_negative = other.magnitude != 0 && other.negative;
  const bool this_negative = !zero() && negative_;
  if (this_negative != other_negative)
    return this_negative ? std::strong_ordering::less : std::strong_ordering::greater;
  const std::strong_ordering order = compare_magnitude(other.magnitude, other.exponent);
  return this_negative ? reversed(order) : order;
}

std::strong_ordering ExactNumber::compare_with_midpoint_above(const ScaledInteger& below) const {
  return compare_magnitude(2 * below.magnitude + 1, below.exponent - 1);
}

}  // namespace warpfold
