#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "core/numeric/big_natural.hpp"
#include "core/numeric/fixed_point.hpp"

namespace warpfold {

/// An exact number is a real number as someone wrote it, never rounded, or an infinity.
class ExactNumber {
 public:
  static constexpr std::size_t max_characters = 4096;

  /// Returns the number that all of `text` is, if it is one: decimal ("-1.5e3") or hexadecimal
  /// ("0x1.8p3"), with any exponent, in at most max_characters; or "inf", "infinity". Letters of
  /// either case.
  static std::optional<ExactNumber> parse(std::string_view text);

  /// Takes the value of a finite double, or an integer times a power of two.
  explicit ExactNumber(const ScaledInteger& value);

  bool negative() const { return negative_; }
  bool infinite() const { return kind_ == Kind::infinite; }

  std::strong_ordering compare(const ScaledInteger& other) const;

  /// Compares magnitudes: this one's with that halfway between `below` and the next multiple of its
  /// power of two.
  std::strong_ordering compare_with_midpoint_above(const ScaledInteger& below) const;

 private:
  enum class Kind : std::uint8_t {
    finite,
    tiny,  ///< not zero, and less than half the least positive double
    huge,  ///< beyond all finite doubles and all integers of 64 bits
    infinite
  };

  ExactNumber(bool negative, Kind kind) : negative_(negative), kind_(kind) {}
  static std::optional<ExactNumber> parse_digits(std::string_view text, bool negative,
                                                 bool hexadecimal);
  bool zero() const { return kind_ == Kind::finite && numerator_.bit_length() == 0; }
  std::strong_ordering compare_magnitude(std::uint64_t magnitude, int exponent) const;

  bool negative_;
  Kind kind_;
  /// Finite numbers are numerator * 2^exponent / denominator.
  BigNatural numerator_{0};
  BigNatural denominator_{1};
  int exponent_ = 0;
};

}  // namespace warpfold
