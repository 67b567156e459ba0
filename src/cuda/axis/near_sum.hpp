#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/axis/sum_window.hpp"
#include "warpfold/core/host_device.hpp"
#include "warpfold/core/int128.hpp"

/// Sums of doubles of similar sizes, in fewer instructions than a SumWindow takes.
namespace warpfold::cuda::kernels {

/// A number (-1)^negative * magnitude * 2^shift, in units of a NearWindow.
struct NearNumber {
  std::uint64_t magnitude;  ///< below 2^53
  int shift;                ///< in [1, 63]
  bool negative;
};

/// A range of exponents: of the doubles that one thread's near sums hold.
///
/// Bound: what is added to a NearSum stays below 2^126 units, and what is added to a NearSquares
/// below 2^191. Such sums are finite as doubles, and the least is normal.
class NearWindow {
 public:
  /// For at most so many additions to a sum, or to a sum of squares, too.
  WARPFOLD_HD NearWindow(std::uint64_t additions, bool squares) {
    const int bits = 64 - leading_zeros(additions);
    const int of_sum = 126 - 53 - bits;
    const int of_squares = (191 - 106 - bits) / 2;
    span_ = squares ? (of_squares < 31 ? of_squares : 31) : of_sum < 63 ? of_sum : 63;
    least_ = bias + (squares ? -511 : -1022);
    greatest_ = bias + (squares ? 384 : 833);
  }

  WARPFOLD_HD bool is_placed() const { return unit_ != unplaced; }

  /// Tells the same of the bits of any double: false for what is not finite, 0 and subnormal ones.
  WARPFOLD_HD bool covers(std::uint64_t bits) const {
    return static_cast<std::uint32_t>(shift_of(bits)) - 1 < static_cast<std::uint32_t>(span_);
  }

  WARPFOLD_HD NearNumber number(std::uint64_t bits) const {
    constexpr std::uint64_t hidden = std::uint64_t{1} << 52;
    return {(bits & (hidden - 1)) | hidden, shift_of(bits),
            static_cast<std::int32_t>(bits >> 32) < 0};
  }

  /// Moves this to where it covers a double, if it can. The sums have to be empty.
  WARPFOLD_HD void move_to(std::uint64_t bits) { move_to(bits, least_, greatest_); }

  /// Moves this to a unit in [2^least, 2^greatest] where it covers a double; returns false, and
  /// leaves, if there is none.
  WARPFOLD_HD bool move_within(std::uint64_t bits, int least, int greatest) {
    least = larger(least + bias, least_);
    greatest = smaller(greatest + bias, greatest_);
    move_to(bits, least, greatest);
    if (least <= greatest && covers(bits)) return true;
    leave();
    return false;
  }

  WARPFOLD_HD void leave() { unit_ = unplaced; }

  /// The exponent of the unit of sums. Squares have twice that.
  WARPFOLD_HD int unit() const { return unit_ - bias; }

 private:
  static constexpr int bias =
      1075;  ///< a double's exponent field is its last bit's exponent + this
  static constexpr int unplaced = 1 << 16;

  WARPFOLD_HD static int larger(int a, int b) { return a > b ? a : b; }
  WARPFOLD_HD static int smaller(int a, int b) { return a < b ? a : b; }

  WARPFOLD_HD int shift_of(std::uint64_t bits) const {
    return static_cast<int>(static_cast<std::uint32_t>(bits >> 32) >> 20 & 0x7ff) - unit_;
  }

  /// Leaves more room below the double than above it.
  WARPFOLD_HD void move_to(std::uint64_t bits, int least, int greatest) {
    unit_ = 0;
    unit_ = smaller(larger(shift_of(bits) - span_ * 5 / 8, least), greatest);
  }

  int unit_ = unplaced;  ///< with the bias
  int span_;
  int least_;
  int greatest_;
};

/// A sum in two's complement, in units of a NearWindow.
struct NearSum {
  uint128 units = 0;

  /// Moves a sum here, and the window to where it covers a double, too; returns false, and leaves
  /// the window, if there is no room for both.
  template <int Words>
  WARPFOLD_HD bool take(SumWindow<Words>& sum, NearWindow& window, std::uint64_t bits) {
    const bool zero = sum.is_zero();
    if (!window.move_within(bits, zero ? INT16_MIN : sum.end() - 126,
                            zero ? INT16_MAX : sum.least_bit()))
      return false;
    for (int i = 3; i >= 0; --i) units = units << 32 | sum.word_at(window.unit() + 32 * i);
    sum = {};
    return true;
  }

  /// Does so for a double of about the sum's size, or about 1.
  template <int Words>
  WARPFOLD_HD bool take(SumWindow<Words>& sum, NearWindow& window) {
    const int field = sum.is_zero() ? 1023 : sum.end() + 1022;
    return take(sum, window, std::uint64_t{field < 1 ? 1u : static_cast<unsigned>(field)} << 52);
  }

  WARPFOLD_HD void add(const NearNumber& number) {
    const auto size = static_cast<std::int64_t>(number.magnitude);
    const std::int64_t value = number.negative ? -size : size;
    units += uint128{static_cast<std::uint64_t>(value >> (64 - number.shift))} << 64 |
             static_cast<std::uint64_t>(value) << number.shift;
  }

  WARPFOLD_HD bool is_negative() const { return static_cast<std::int64_t>(units >> 64) < 0; }

  WARPFOLD_HD Addend<4> addend(int unit) const {
    Addend<4> sum{{}, is_negative() ? ~0u : 0u, unit, unit + 127};
    for (int i = 0; i < 4; ++i) sum.word[i] = static_cast<std::uint32_t>(units >> 32 * i);
    return sum;
  }

  /// Rounds the sum once, to the nearest double, ties to even, or to odd.
  WARPFOLD_HD double rounded(Rounding rounding, int unit) const {
    const uint128 sign = is_negative() ? ~uint128{0} : 0;
    const uint128 size = (units ^ sign) - sign;
    const auto top = static_cast<std::uint64_t>(size >> 64);
    const auto bottom = static_cast<std::uint64_t>(size);
    const std::uint64_t upper = top != 0 ? top : bottom;
    const std::uint64_t lower = top != 0 ? bottom : 0;
    const int zeros = leading_zeros(upper | 1);
    const std::uint64_t leading = upper << zeros | lower >> 1 >> (63 - zeros);
    const std::uint32_t rest = static_cast<std::uint32_t>(leading & 0x7ff) << 1 |
                               static_cast<std::uint32_t>(lower << zeros != 0);
    const auto odd = static_cast<std::uint32_t>(leading >> 11 & 1);
    const std::uint32_t limit = rounding == Rounding::odd ? 0xfff * odd : 0x800 - odd;
    const int exponent = unit + (top != 0 ? 127 : 63) - zeros;
    const std::uint64_t magnitude = (static_cast<std::uint64_t>(exponent + 1022) << 52) +
                                    (leading >> 11) + (rest > limit ? 1 : 0);
    const auto bits = magnitude | static_cast<std::uint64_t>(sign) << 63;
    return std::bit_cast<double>(size == 0 ? 0 : bits);
  }
};

/// A sum of squares, in units of a NearWindow.
struct NearSquares {
  NumberWords<6> word = {};

  WARPFOLD_HD void add(const NearNumber& number) {
    const uint128 square = uint128{number.magnitude} * number.magnitude;
    const auto lower = static_cast<std::uint64_t>(square);
    const auto upper = static_cast<std::uint64_t>(square >> 64);
    const int shift = 2 * number.shift;
    const std::uint64_t middle = upper << shift | lower >> (64 - shift);
    add(lower << shift, middle, upper >> (64 - shift));
  }

  WARPFOLD_HD void add(std::uint64_t low, std::uint64_t middle, std::uint64_t high) {
    const NumberWords<6> addend = {
        static_cast<std::uint32_t>(low),    static_cast<std::uint32_t>(low >> 32),
        static_cast<std::uint32_t>(middle), static_cast<std::uint32_t>(middle >> 32),
        static_cast<std::uint32_t>(high),   static_cast<std::uint32_t>(high >> 32)};
    add_words<6>(word, addend);
  }

  WARPFOLD_HD Addend<6> addend(int unit) const {
    Addend<6> sum{{}, 0, 2 * unit, 2 * unit + 191};
    for (int i = 0; i < 6; ++i) sum.word[i] = word[i];
    return sum;
  }
};

}  // namespace warpfold::cuda::kernels
