#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <type_traits>

#include "core/values/generator.hpp"
#include "warpfold/core/element_type.hpp"

/// The elements of generated datasets are functions of their index.
namespace warpfold::generated {

inline constexpr std::uint64_t golden_ratio = 0x9e3779b97f4a7c15;

/// Mixes the bits of a word as the finaliser of SplitMix64 does (Steele, Lea, Flood, OOPSLA 2014).
constexpr std::uint64_t mixed(std::uint64_t bits) {
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

/// Returns random bits by index: SplitMix64's sequence, which can be entered anywhere.
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : start_(mixed(seed * golden_ratio + 1)) {}

  std::uint64_t operator()(std::uint64_t index) const {
    return mixed(start_ + (index + 1) * golden_ratio);
  }

 private:
  std::uint64_t start_;
};

/// Bits of an element's significand, the leading one included.
template <class T>
constexpr int significand_bits() {
  if constexpr (std::is_floating_point_v<T>)
    return std::numeric_limits<T>::digits;
  else
    return T::mantissa_bits + 1;
}

template <class T>
T rounded_to(double value) {
  if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(value);
  else
    return T::from_double(value);
}

template <class T>
T quiet_nan() {
  return rounded_to<T>(std::numeric_limits<double>::quiet_NaN());
}

/// Returns 2^exponent * (1 + fraction), the fraction being the leading bits of `bits`.
inline double float_of(int exponent, std::uint64_t bits, int fraction_bits) {
  const std::uint64_t kept = bits >> (64 - fraction_bits) << (52 - fraction_bits);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52 | kept);
}

template <class T>
class Uniform {
 public:
  explicit Uniform(std::uint64_t seed) : random_(seed) {}

  T operator()(std::uint64_t index) const { return of(random_(index)); }

  static T of(std::uint64_t bits) {
    if constexpr (is_floating_element<T>) {
      constexpr int kept = significand_bits<T>();
      constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << kept);
      return rounded_to<T>(static_cast<double>(bits >> (64 - kept)) * unit);
    } else if constexpr (sizeof(T) == 8) {
      using Half = std::conditional_t<std::is_signed_v<T>, std::int32_t, std::uint32_t>;
      return static_cast<T>(static_cast<Half>(bits >> 32));
    } else {
      return static_cast<T>(bits >> 32);
    }
  }

 private:
  RandomBits random_;
};

/// Draws by Box and Muller's transform.
template <class T>
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : radius_bits_(seed), angle_bits_(~seed) {}

  T operator()(std::uint64_t index) const {
    constexpr double unit = 0x1p-53;
    const double in_0_1 = static_cast<double>((radius_bits_(index) >> 11) + 1) * unit;
    const double turn = static_cast<double>(angle_bits_(index) >> 11) * unit;
    const double normal =
        std::sqrt(-2.0 * std::log(in_0_1)) * std::cos(2.0 * std::numbers::pi * turn);
    if constexpr (is_floating_element<T>) {
      return rounded_to<T>(normal);
    } else {
      // Never beyond 9000, so that only narrow types saturate.
      constexpr double lowest = static_cast<double>(std::numeric_limits<T>::min());
      constexpr double highest =
          sizeof(T) < 4 ? static_cast<double>(std::numeric_limits<T>::max()) : 1e6;
      return static_cast<T>(std::clamp(std::nearbyint(1000.0 * normal), lowest, highest));
    }
  }

 private:
  RandomBits radius_bits_;
  RandomBits angle_bits_;
};

template <class T>
class Wide {
 public:
  explicit Wide(std::uint64_t seed) : value_bits_(seed), order_bits_(~seed) {}

  T operator()(std::uint64_t index) const {
    const std::uint64_t bits = value_bits_(index);
    const std::uint64_t order = order_bits_(index) >> 1;
    const bool negative = (order_bits_(index) & 1) != 0;
    if constexpr (is_floating_element<T>) {
      constexpr int orders = std::is_same_v<T, Float16> ? 20 : 60;
      const int exponent = static_cast<int>(order % orders) - orders / 2;
      const double magnitude = float_of(exponent, bits, significand_bits<T>() - 1);
      return rounded_to<T>(negative ? -magnitude : magnitude);
    } else {
      constexpr int widths = std::numeric_limits<T>::digits;
      const std::uint64_t magnitude = bits >> (63 - order % widths);
      return static_cast<T>(std::is_signed_v<T> && negative ? 0 - magnitude : magnitude);
    }
  }

 private:
  RandomBits value_bits_;
  RandomBits order_bits_;
};

/// The elements of `cancel` cancel: element i and its mirror image from the end are opposite, save
/// for those that are 1.
template <class T>
class Cancel {
 public:
  explicit Cancel(const GeneratorSpec& spec) : elements_(spec.elements), random_(spec.seed) {}

  T operator()(std::uint64_t index) const {
    const std::uint64_t mirror = elements_ - 1 - index;
    const std::uint64_t place = std::min(index, mirror);
    if (place % 4 == 3 || index == mirror) return one();
    return huge(random_(place), index > mirror);
  }

 private:
  static T one() {
    if constexpr (is_floating_element<T>)
      return rounded_to<T>(1.0);
    else
      return T{1};
  }

  static T huge(std::uint64_t bits, bool negative) {
    if constexpr (is_floating_element<T>) {
      constexpr int exponent = std::is_same_v<T, double>    ? 1000
                               : std::is_same_v<T, Float16> ? 14
                                                            : 120;
      const double magnitude = float_of(exponent, bits, significand_bits<T>() - 1);
      return rounded_to<T>(negative ? -magnitude : magnitude);
    } else {
      constexpr int width = std::numeric_limits<T>::digits - 1;
      const std::uint64_t magnitude = (bits | std::uint64_t{1} << 63) >> (64 - width);
      return static_cast<T>(negative ? 0 - magnitude : magnitude);
    }
  }

  std::uint64_t elements_;
  RandomBits random_;
};

template <class T>
T iota_element(std::uint64_t index) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(index);
  else
    return T::from_double(static_cast<double>(index));
}

template <class T>
T nan_element(std::uint64_t bits) {
  return bits % 1000 == 0 ? quiet_nan<T>() : Uniform<T>::of(bits);
}

/// A stream is Widynski's generator, 32 bits at a time (Middle-Square Weyl Sequence RNG,
/// arXiv:1704.00358).
class MiddleSquareWeyl {
 public:
  explicit MiddleSquareWeyl(std::uint64_t seed)
      : increment_(seed == 1 ? published_increment : mixed(seed + golden_ratio) | 1) {}

  std::uint32_t operator()() {
    square_ *= square_;
    weyl_ += increment_;
    square_ += weyl_;
    square_ = square_ >> 32 | square_ << 32;
    return static_cast<std::uint32_t>(square_);
  }

 private:
  static constexpr std::uint64_t published_increment = 0xb5ad4eceda1ce2a9;

  std::uint64_t increment_;
  std::uint64_t square_ = 0;
  std::uint64_t weyl_ = 0;
};

}  // namespace warpfold::generated
