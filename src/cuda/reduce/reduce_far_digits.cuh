#pragma once

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/reduce/reduce_block.cuh"

namespace warpfold::cuda::kernels {

/// Adds value * 2^exponent to a number that other threads add to at the same time.
__device__ inline void add_scaled(std::int64_t value, int exponent, ExactSum& number) {
  const auto bits = static_cast<std::uint64_t>(value);
  ExactSum::digits(ScaledInteger{value < 0 ? -bits : bits, exponent, value < 0},
                   AtomicLimbs(number.limb));
}

/// In shared memory: superaccumulators for all doubles, of digits of 16 bits in 32, to which the
/// threads of a block add by atomics. As many lanes share one that few meet in a digit.
class FarDigits {
  static constexpr int digit_bits = 16;
  static constexpr int digits = 2048 / digit_bits + 4;
  static constexpr int copies = 16;
  static constexpr int sharing = reduce_threads / copies;  ///< threads

 public:
  /// A thread adds at most so many elements before its warp calls move_to().
  static constexpr std::uint32_t most_of_thread = (1u << (31 - digit_bits)) / sharing;

  __device__ void clear() {
    for (int d = static_cast<int>(threadIdx.x) / copies; d < digits; d += sharing)
      digit_[d][threadIdx.x % copies] = 0;
  }

  /// Adds a finite double, by its bits.
  __device__ void add(std::uint64_t bits) {
    const ScaledInteger element = scaled_integer(std::bit_cast<double>(bits));
    const int place = element.exponent + 1075;
    const int shift = place % digit_bits;
    const std::uint64_t low = element.magnitude << shift;
    std::int32_t* const to = &digit_[place / digit_bits][threadIdx.x % copies];
    const auto put = [&](int d, std::uint64_t part) {
      const auto digit = static_cast<std::int32_t>(part % (1u << digit_bits));
      atomicAdd(to + d * copies, element.negative ? -digit : digit);
    };
#pragma unroll
    for (int d = 0; d < 4; ++d) put(d, low >> (d * digit_bits));
    put(4, element.magnitude >> (63 - shift) >> 1);
  }

  /// Moves all digits to a number that other threads add to. By all lanes of a warp.
  __device__ void move_to(ExactSum& number) {
    constexpr int at_once = warp::lanes / copies;
    static_assert(digits % at_once == 0);
    warp::synchronize();
#pragma unroll 1
    for (int d = warp::lane() / copies; d < digits; d += at_once) {
      std::int64_t sum = atomicExch(&digit_[d][warp::lane() % copies], 0);
      if (!warp::any(sum != 0)) continue;
#pragma unroll
      for (int bit = 1; bit < copies; bit *= 2) sum += warp::shuffle_xor(sum, bit);
      if (warp::lane() % copies == 0) add_scaled(sum, digit_bits * d - 1075, number);
    }
  }

 private:
  std::int32_t digit_[digits][copies];
};

}  // namespace warpfold::cuda::kernels
