#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/numeric/slices.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// Puts a float's bits where a double has them: the number times 2^-shift, without the conversions
/// of which a multiprocessor makes few at a time. What is not finite becomes a double whose upper
/// word is `non_finite_word` or more.
template <class T>
struct PlacedFloat {
  using Bits = std::conditional_t<sizeof(T) == 8, std::uint64_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint16_t>>;

  static constexpr int exponent_bits = std::is_same_v<T, double>    ? 11
                                       : std::is_same_v<T, Float16> ? 5
                                                                    : 8;
  static constexpr int shift = 1024 - (1 << (exponent_bits - 1));
  static constexpr std::uint32_t non_finite_word = ((1u << exponent_bits) - 1)
                                                   << word_exponent_shift;

  WARPFOLD_HD static double of(Bits bits) {
    if constexpr (sizeof(T) == 8) {
      return std::bit_cast<double>(bits);
    } else {
      constexpr std::uint32_t kept = 0x80000000u | 0x7fffffffu >> skipped;
      const std::uint32_t high =
          static_cast<std::uint32_t>(static_cast<std::int32_t>(aligned(bits)) >> skipped) & kept;
      return std::bit_cast<double>(std::uint64_t{high} << 32 | aligned(bits) << (32 - skipped));
    }
  }

  /// Returns magnitude_word(of(bits)).
  WARPFOLD_HD static std::uint32_t word(Bits bits) {
    if constexpr (sizeof(T) == 8)
      return static_cast<std::uint32_t>(bits >> 32) & 0x7fffffffu;
    else
      return (aligned(bits) & 0x7fffffffu) >> skipped;
  }

 private:
  static constexpr int skipped = 11 - exponent_bits;

  WARPFOLD_HD static std::uint32_t aligned(Bits bits) {
    return static_cast<std::uint32_t>(bits) << (32 - 8 * static_cast<int>(sizeof(T)));
  }
};

template <class T>
inline constexpr int significand_bits =
    8 * static_cast<int>(sizeof(T)) - PlacedFloat<T>::exponent_bits;

}  // namespace warpfold::cuda::kernels
