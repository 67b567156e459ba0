#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/numeric/expansion.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "cuda/primitives/wide_number.hpp"
#include "warpfold/core/host_device.hpp"

/// Exact sums in a few words, by integer arithmetic alone.
namespace warpfold::cuda::kernels {

/// The words of a number in two's complement, the lowest first.
template <int Count>
using NumberWords = std::uint32_t[static_cast<std::size_t>(Count)];

/// Returns magnitude * 2^exponent, a double; of a magnitude of at most 53 bits.
WARPFOLD_HD inline double double_of(std::uint64_t magnitude, int exponent, bool negative) {
  if (magnitude == 0) return 0.0;
  const int zeros = leading_zeros(magnitude);
  const double size = round_to_double(magnitude << zeros, exponent + 63 - zeros, false);
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | std::uint64_t{negative} << 63);
}

/// A number to be added, of units of 2^exponent and less than 2^end.
template <int Count>
struct Addend {
  NumberWords<Count> word;
  std::uint32_t sign;  ///< each word above these
  int exponent;
  int end;

  /// Makes this (-1)^negative times what it is.
  WARPFOLD_HD Addend with_sign(bool negative) const {
    if (!negative) return *this;
    Addend opposite = *this;
    std::uint64_t above = 1;
    for (std::uint32_t& each : opposite.word) {
      above += std::uint32_t{~each};
      each = static_cast<std::uint32_t>(above);
      above >>= 32;
    }
    opposite.sign = above != 0 ? 0 : ~0u;
    return opposite;
  }

  WARPFOLD_HD bool is_zero() const {
    std::uint32_t bits = 0;
    for (const std::uint32_t each : word) bits |= each;
    return bits == 0;
  }

  /// Calls emit(double) for numbers of 48 bits whose sum is this one.
  template <class Emit>
  WARPFOLD_HD void split(Emit&& emit) const {
    const bool negative = sign != 0;
    const Addend size = with_sign(negative);
    const auto digit = [&](int i) { return std::uint64_t{i < Count ? size.word[i] : 0}; };
    const auto put = [&](std::uint64_t part, int place) {
      if (part != 0) emit(double_of(part, exponent + place, negative));
    };
    for (int i = 0; i < Count; i += 3) {
      put(digit(i) | (digit(i + 1) & 0xffff) << 32, 32 * i);
      put(digit(i + 1) >> 16 | digit(i + 2) << 16, 32 * i + 48);
    }
  }
};

/// Returns a number whose magnitude has at most so many bits.
WARPFOLD_HD inline Addend<2> addend_of(const ScaledInteger& number, int bits) {
  const std::uint64_t sign = number.negative ? ~std::uint64_t{0} : 0;
  const std::uint64_t value = (number.magnitude ^ sign) - sign;
  return {{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)},
          value == 0 ? 0 : static_cast<std::uint32_t>(sign),
          number.exponent,
          number.exponent + bits};
}

/// Returns the product of two magnitudes, which have `bits` bits together.
WARPFOLD_HD inline Addend<4> product_of(const ScaledInteger& a, const ScaledInteger& b, int bits) {
  const uint128 magnitude = uint128{a.magnitude} * b.magnitude;
  const int exponent = a.exponent + b.exponent;
  Addend<4> product{{}, 0, exponent, exponent + bits};
  for (int i = 0; i < 4; ++i) product.word[i] = static_cast<std::uint32_t>(magnitude >> 32 * i);
  return product;
}

/// Returns a square times a magnitude, which has `bits` bits.
WARPFOLD_HD inline Addend<6> product_of(const Addend<4>& square, const ScaledInteger& factor,
                                        int bits) {
  Addend<6> product{{}, 0, square.exponent + factor.exponent, square.end + factor.exponent + bits};
  std::uint64_t upper = 0;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t digit =
        i < 2 ? std::uint64_t{square.word[2 * i + 1]} << 32 | square.word[2 * i] : 0;
    const uint128 sum = uint128{digit} * factor.magnitude + upper;
    product.word[2 * i] = static_cast<std::uint32_t>(sum);
    product.word[2 * i + 1] = static_cast<std::uint32_t>(sum >> 32);
    upper = static_cast<std::uint64_t>(sum >> 64);
  }
  return product;
}

/// Adds two's complement numbers of `Count` words.
template <int Count>
WARPFOLD_HD void add_words(NumberWords<Count>& sum, const NumberWords<Count>& addend) {
#ifdef __CUDA_ARCH__
  // Other code takes two instructions a word.
  if constexpr (Count == 6) {
    asm("add.cc.u32 %0, %0, %6;\n\t"
        "addc.cc.u32 %1, %1, %7;\n\t"
        "addc.cc.u32 %2, %2, %8;\n\t"
        "addc.cc.u32 %3, %3, %9;\n\t"
        "addc.cc.u32 %4, %4, %10;\n\t"
        "addc.u32 %5, %5, %11;"
        : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3]), "+r"(sum[4]), "+r"(sum[5])
        : "r"(addend[0]), "r"(addend[1]), "r"(addend[2]), "r"(addend[3]), "r"(addend[4]),
          "r"(addend[5]));
    return;
  }
#endif
  std::uint64_t above = 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
  for (int i = 0; i < Count; ++i) {
    above += std::uint64_t{sum[i]} + addend[i];
    sum[i] = static_cast<std::uint32_t>(above);
    above >>= 32;
  }
}

/// A sum as a number of `Words` words in two's complement, in units of 2^unit(). The unit follows
/// the addends, a word at a time, as long as all bits of the sum stay.
///
/// Bound: addends are below 2^(32 * (Words - 1)) units, so each changes the uppermost word by at
/// most 1. That word is below 2^24 after settle(), and after a move that makes it larger. It then
/// takes 2^30 addends, or 63 settled sums.
template <int Words>
class alignas(8) SumWindow {
 public:
  static constexpr int words = Words;
  static constexpr int addend_bits = 32 * (Words - 1);

  WARPFOLD_HD int unit() const { return unit_; }
  WARPFOLD_HD std::uint32_t word(int i) const { return word_[i]; }

  /// Makes this a number whose unit is a multiple of a word.
  template <int Count>
  WARPFOLD_HD void set(const Addend<Count>& number) {
    for (int i = 0; i < Words; ++i) word_[i] = i < Count ? number.word[i] : number.sign;
    unit_ = number.exponent;
  }

  WARPFOLD_HD bool is_zero() const {
    std::uint32_t bits = 0;
    for (const std::uint32_t each : word_) bits |= each;
    return bits == 0;
  }

  WARPFOLD_HD bool is_negative() const { return word_[Words - 1] >> 31 != 0; }

  /// Adds a number; returns false if there is no room for it.
  template <int Count>
  WARPFOLD_HD bool add(const Addend<Count>& addend) {
    std::uint32_t kept = ~0u;
    if (!covers(addend) && !addend.is_zero() && !make_room(addend)) kept = 0;
    NumberWords<Words> placed;
    place(addend, addend.exponent - unit_, kept, placed);
    add_words<Words>(word_, placed);
    return kept != 0;
  }

  /// Adds another settled sum; calls spill(double) for each number that this has no room for, at
  /// most `Words`.
  template <class Spill>
  WARPFOLD_HD void merge(SumWindow other, Spill&& spill) {
    if (other.is_zero()) return;
    if (is_zero()) unit_ = other.unit_;
    while (unit_ < other.unit_) approach(*this, other, spill);
    while (unit_ > other.unit_) approach(other, *this, spill);
    add_words<Words>(word_, other.word_);
  }

  /// Makes room for more carries; calls spill(double) for a number that had to leave.
  template <class Spill>
  WARPFOLD_HD void settle(Spill&& spill) {
    std::uint32_t& top = word_[Words - 1];
    if (leaves_room(top)) return;
    const bool negative = is_negative();
    spill(double_of(negative ? 0u - top : top, unit_ + addend_bits, negative));
    top = 0;
  }

  /// Returns 32 bits of the sum, from that of weight 2^exponent on.
  WARPFOLD_HD std::uint32_t word_at(int exponent) const {
    const int place = (exponent - unit_) >> 5;
    const auto digit = [&](int i) {
      return i < 0 ? 0 : i < Words ? word_[i] : sign_of(word_[Words - 1]);
    };
    const std::uint64_t digits = std::uint64_t{digit(place + 1)} << 32 | digit(place);
    return static_cast<std::uint32_t>(digits >> ((exponent - unit_) & 31));
  }

  /// Returns the exponent of the least bit of a sum that is not 0.
  WARPFOLD_HD int least_bit() const {
    int i = 0;
    while (word_[i] == 0) ++i;
    return unit_ + 32 * i + trailing_zeros(word_[i]);
  }

  /// Returns the least exponent such that the sum's magnitude is at most 2^exponent.
  WARPFOLD_HD int end() const {
    const std::uint32_t sign = sign_of(word_[Words - 1]);
    int i = Words - 1;
    while (i > 0 && word_[i] == sign) --i;
    return unit_ + 32 * i + 64 - leading_zeros(std::uint64_t{word_[i] ^ sign});
  }

  /// Rounds the sum once, ties to even, or to odd.
  WARPFOLD_HD double rounded(Rounding rounding) const {
    WideNumber<Words> number;
    for (int i = 0; i < Words; ++i) number.digit[i] = word_[i];
    return number.rounded(rounding, unit_);
  }

  /// Returns a sum of doubles.
  ExactSum exact() const {
    ExactSum sum{};
    std::int64_t* limb = sum.limb + ExactSum::low_limbs + unit_ / 32;
    for (const std::uint32_t word : word_) *limb++ = word;
    if (is_negative()) limb[-1] -= std::int64_t{1} << 32;
    sum.normalize();
    return sum;
  }

  /// Returns the leading parts of the sum; calls spill(double) for others.
  template <class Spill>
  WARPFOLD_HD Expansion expansion(Spill&& spill) const {
    SumWindow rest = *this;
    const bool negative = is_negative();
    if (negative) rest.negate();
    Expansion sum;
    for (double& part : sum.part) part = rest.take_leading(negative);
    while (!rest.is_zero()) spill(rest.take_leading(negative));
    return sum;
  }

 private:
  /// Limits of units, so that each bit of a sum is one of a double, and an addend at most
  /// largest_addend. (Those of two words have no bits below 2^-1074, others may.)
  template <int Count>
  static constexpr int least_unit = Count == 2 ? -1088 : -1056;
  static constexpr int greatest_unit = 960 - addend_bits;

  WARPFOLD_HD static std::uint32_t sign_of(std::uint32_t top) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(top) >> 31);
  }

  WARPFOLD_HD static bool leaves_room(std::uint32_t top) {
    constexpr std::uint32_t most = 1u << 24;
    return top + most < 2 * most;
  }

  template <int Count>
  WARPFOLD_HD bool covers(const Addend<Count>& addend) const {
    return addend.exponent >= unit_ && addend.end - unit_ <= addend_bits;
  }

  /// Moves the window to where it covers an addend; returns false if it cannot.
  template <int Count>
  WARPFOLD_HD bool make_room(const Addend<Count>& addend) {
    constexpr int words_below = (Words - 1 - Count) / 2;
    if (is_zero()) {
      const int wanted = (addend.exponent >> 5 << 5) - 32 * words_below;
      unit_ = wanted < least_unit<Count> ? least_unit<Count>
              : wanted > greatest_unit   ? greatest_unit
                                         : wanted;
    }
    for (bool moves = true; moves && addend.exponent < unit_;)
      moves = unit_ > least_unit<Count> && lower();
    for (bool moves = true; moves && addend.end - unit_ > addend_bits;)
      moves = unit_ < greatest_unit && raise();
    return covers(addend);
  }

  /// Writes the words of an addend, of the bits `kept`, `shift` bits above the unit.
  template <int Count>
  WARPFOLD_HD static void place(const Addend<Count>& addend, int shift, std::uint32_t kept,
                                NumberWords<Words>& placed) {
    const int bits = shift & 31;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int i = 0; i < Words; ++i) {
      const std::uint64_t upper = (i < Count ? addend.word[i] : addend.sign) & kept;
      const std::uint64_t lower =
          i == 0 ? 0 : (i <= Count ? addend.word[i - 1] : addend.sign) & kept;
      placed[i] = static_cast<std::uint32_t>((upper << 32 | lower) << bits >> 32);
    }
    constexpr int steps = std::bit_width(static_cast<unsigned>(Words - 2));
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
    for (int step = 0; step < steps; ++step) {
      const int moved = 1 << step;
      const bool moves = (shift >> (5 + step) & 1) != 0;
#ifdef __CUDA_ARCH__
#pragma unroll
#endif
      for (int i = Words - 1; i >= 0; --i) {
        const std::uint32_t from = i >= moved ? placed[i - moved] : 0;
        placed[i] = moves ? from : placed[i];
      }
    }
  }

  /// Moves the window up by a word, if that is 0; otherwise returns false.
  WARPFOLD_HD bool raise() {
    if (word_[0] != 0) return false;
    for (int i = 0; i < Words - 1; ++i) word_[i] = word_[i + 1];
    word_[Words - 1] = sign_of(word_[Words - 1]);
    unit_ += 32;
    return true;
  }

  /// Moves the window down by a word, if that leaves room for carries; otherwise returns false.
  WARPFOLD_HD bool lower() {
    const std::uint32_t top = word_[Words - 2];
    if (word_[Words - 1] != sign_of(top) || !leaves_room(top)) return false;
    for (int i = Words - 1; i > 0; --i) word_[i] = word_[i - 1];
    word_[0] = 0;
    unit_ -= 32;
    return true;
  }

  /// Makes the units of two windows, of which one is lower, more alike by a word, or its last word
  /// 0. Words leave as signed digits, so that nothing is left of a settled sum after `Words` of
  /// them.
  template <class Spill>
  WARPFOLD_HD static void approach(SumWindow& low, SumWindow& high, Spill&& spill) {
    if (low.raise() || high.lower()) return;
    std::uint32_t& last = low.word_[0];
    const bool negative = last >> 31 != 0;
    spill(double_of(negative ? 0u - last : last, low.unit_, negative));
    last = 0;
    const NumberWords<Words> carry = {0, negative ? 1u : 0u};
    add_words<Words>(low.word_, carry);
  }

  WARPFOLD_HD void negate() {
    const NumberWords<Words> one = {1};
    for (std::uint32_t& each : word_) each = ~each;
    add_words<Words>(word_, one);
  }

  /// Takes the 53 leading bits of a magnitude away; returns them as a number of the given sign.
  WARPFOLD_HD double take_leading(bool negative) {
    std::uint32_t top[3] = {};
    int top_place = 0;
    for (int i = 0; i < Words; ++i) {
      if (word_[i] == 0) continue;
      top[0] = word_[i];
      top[1] = i > 0 ? word_[i - 1] : 0;
      top[2] = i > 1 ? word_[i - 2] : 0;
      top_place = 32 * i;
    }
    const int zeros = leading_zeros(std::uint64_t{top[0]}) - 32;
    const std::uint64_t leading = (std::uint64_t{top[0]} << 32 | top[1]) << (zeros & 31) |
                                  std::uint64_t{top[2]} << (zeros & 31) >> 32;
    const int first = top_place + 32 - zeros - 53;
    for (int i = 0; i < Words; ++i) {
      const int kept = first - 32 * i;
      word_[i] &= kept <= 0 ? 0 : kept < 32 ? (1u << kept) - 1 : ~0u;
    }
    return double_of(leading >> 11, unit_ + first, negative);
  }

  NumberWords<Words> word_;
  int unit_;  ///< a multiple of 32
};

/// Sums of elements, and of their squares.
using ColumnSum = SumWindow<9>;
using ColumnSquares = SumWindow<13>;

}  // namespace warpfold::cuda::kernels
