#pragma once

#include <cstdint>

#include "cuda/primitives/half_digits.cuh"
#include "cuda/reduce/reduce_products.cuh"

namespace warpfold::cuda::kernels {

/// In shared memory: superaccumulators of digits of 16 bits in 32, to which the threads of a block
/// add by atomics. As many lanes share one that few meet in a digit. `Bits` is what the greatest
/// addend has above the unit, of which it has AddendBits at most.
template <int Bits, int AddendBits, int Copies>
class FarDigits {
  static constexpr int digit_bits = half_digit_bits;
  static constexpr int at_once = warp::lanes / Copies;
  static constexpr int digits =
      (Bits / digit_bits + half_digits_of(AddendBits) + at_once) / at_once * at_once;
  static constexpr int sharing = reduce_threads / Copies;  ///< threads

 public:
  /// A thread adds at most so many elements before its warp calls move_to().
  static constexpr std::uint32_t most_of_thread = (1u << (31 - digit_bits)) / sharing;

  __device__ void clear() {
    for (int d = static_cast<int>(threadIdx.x) / Copies; d < digits; d += sharing)
      digit_[d][threadIdx.x % Copies] = 0;
  }

  /// Adds +-magnitude * 2^place units. The magnitude is an integer of 64 bits, or of 128 and less
  /// than 2^112.
  template <class Magnitude>
  __device__ void add(Magnitude magnitude, int place, bool negative) {
    add_half_digits<AddendBits>(magnitude, place, negative, [&](int d, std::int32_t digit) {
      atomicAdd(&digit_[d][threadIdx.x % Copies], digit);
    });
  }

  /// Moves all digits to a number that other threads add to, in units of 2^unit. By all lanes of a
  /// warp.
  template <class Number>
  __device__ void move_to(Number& number, int unit) {
    warp::synchronize();
#pragma unroll 1
    for (int d = warp::lane() / Copies; d < digits; d += at_once) {
      std::int64_t sum = atomicExch(&digit_[d][warp::lane() % Copies], 0);
      if (!warp::any(sum != 0)) continue;
#pragma unroll
      for (int bit = 1; bit < Copies; bit *= 2) sum += warp::shuffle_xor(sum, bit);
      if (warp::lane() % Copies == 0) add_scaled(sum, digit_bits * d + unit, number);
    }
  }

 private:
  std::int32_t digit_[digits][Copies];
};

}  // namespace warpfold::cuda::kernels
