#pragma once

#include <cstdint>
#include <type_traits>

#include "cuda/reduce/reduce_elements.cuh"

namespace warpfold::cuda::kernels {

/// The sum of up to 2^64 squares of 64-bit integers.
struct Unsigned192 {
  std::uint64_t low;
  std::uint64_t middle;
  std::uint64_t high;

  friend __device__ Unsigned192 operator+(Unsigned192 a, Unsigned192 b) {
    const std::uint64_t low = a.low + b.low;
    const std::uint64_t middle = a.middle + b.middle;
    const std::uint64_t carried = middle + (low < a.low ? 1 : 0);
    const std::uint64_t high =
        a.high + b.high + (middle < a.middle ? 1 : 0) + (carried < middle ? 1 : 0);
    return {low, carried, high};
  }
};

template <class Number>
__device__ void add_magnitude(Number& number, uint128 magnitude, bool negative) {
  Number::digits(magnitude, 0, negative, AtomicLimbs(number.limb));
}

template <class Number>
__device__ void add_magnitude(Number& number, Unsigned192 magnitude, bool) {
  const uint128 low = static_cast<uint128>(magnitude.middle) << 64 | magnitude.low;
  Number::digits(low, 0, false, AtomicLimbs(number.limb));
  Number::digits(static_cast<uint128>(magnitude.high), 128, false, AtomicLimbs(number.limb));
}

/// One thread's sums of integers, exact in machine integers: it meets fewer than 2^28 elements.
///
/// Narrow types add to 32-bit integers first, settled every 2^12 vectors. These hold at most
/// 2^12 * 8 * (2^16 - 1) < 2^31 in sums and magnitudes, 2^12 * 16 * 255^2 < 2^32 in squares of
/// unsigned bytes and 2^12 * 16 * 2^14 = 2^30 in those of signed ones.
template <class T, ReduceNeeds needs>
class IntegerSums : public SumsWithoutWindow<T> {
  static constexpr bool wide = sizeof(T) == 8;
  static constexpr bool narrow = sizeof(T) < 4;
  static constexpr bool is_signed = std::is_signed_v<T>;
  using Signed = std::conditional_t<wide, int128, std::int64_t>;
  using Magnitude = std::conditional_t<wide, uint128, std::uint64_t>;
  using Squares = std::conditional_t<wide, Unsigned192,
                                     std::conditional_t<sizeof(T) == 4, uint128, std::uint64_t>>;
  using Part = std::conditional_t<is_signed, std::int32_t, std::uint32_t>;

 public:
  static constexpr std::uint32_t settle_tiles = (1u << 12) / ThreadTile<T>::vectors;

  __device__ IntegerSums(BlockTotals& block, SumsWithoutWindow<T>::Shared&) : block_(block) {}

  __device__ void add(const ThreadTile<T>& tile, const ThreadShare<T>&) {
#pragma unroll
    for (const Vector<T>& vector : tile.vector) add(vector);
  }

  __device__ void settle(const ThreadShare<T>&) {
    if constexpr (!narrow) return;
    sum_ += sum_part_;
    absolute_ += absolute_part_;
    if constexpr (sizeof(T) == 1) squares_ = squares_ + static_cast<std::uint32_t>(square_part_);
    sum_part_ = 0;
    absolute_part_ = 0;
    square_part_ = 0;
  }

  /// Adds the sums to the block's. By all threads of the block, after settle().
  __device__ void flush() {
    if constexpr (needs.sum) {
      const Signed sum = warp::reduce(sum_, warp::Plus{});
      if (warp::lane() == 0) {
        const auto wide_sum = static_cast<int128>(sum);
        const auto bits = static_cast<uint128>(wide_sum);
        add_magnitude(block_.sum, wide_sum < 0 ? -bits : bits, wide_sum < 0);
      }
    }
    if constexpr (needs.absolute) {
      const Magnitude absolute = warp::reduce(absolute_, warp::Plus{});
      if (warp::lane() == 0) add_magnitude(block_.absolute, uint128{absolute}, false);
    }
    if constexpr (needs.squares) {
      const Squares squares = warp::reduce(squares_, warp::Plus{});
      if (warp::lane() == 0) add_magnitude(block_.squares, squares, false);
    }
  }

 private:
  __device__ void add(const Vector<T>& vector) {
    if constexpr (narrow && needs.sum) add_words(vector);
    if constexpr (sizeof(T) == 1 && needs.squares) add_squared_words(vector);
    const auto elements = vector.elements();
#pragma unroll
    for (const T element : elements.element) {
      if constexpr (!narrow && needs.sum) sum_ += element;
      if constexpr (needs.absolute) add_magnitude_of(element);
      if constexpr (sizeof(T) != 1 && needs.squares)
        squares_ = squares_ + square(magnitude_of(element));
    }
  }

  __device__ void add_words(const Vector<T>& vector) {
    const auto words = vector.words();
#pragma unroll
    for (const std::uint32_t word : words.word) {
      if constexpr (sizeof(T) == 1)
        sum_part_ = __dp4a(static_cast<Part>(word), Part{0x01010101}, sum_part_);
      else
        sum_part_ = __dp2a_lo(static_cast<Part>(word), Part{0x0101}, sum_part_);
    }
  }

  __device__ void add_squared_words(const Vector<T>& vector) {
    const auto words = vector.words();
#pragma unroll
    for (const std::uint32_t word : words.word)
      square_part_ = __dp4a(static_cast<Part>(word), static_cast<Part>(word), square_part_);
  }

  __device__ void add_magnitude_of(T element) {
    if constexpr (narrow)
      absolute_part_ += static_cast<std::uint32_t>(magnitude_of(element));
    else
      absolute_ += magnitude_of(element);
  }

  __device__ static std::uint64_t magnitude_of(T element) {
    const std::uint64_t bits = value_bits(element);
    if constexpr (is_signed)
      return element < 0 ? std::uint64_t{0} - bits : bits;
    else
      return bits;
  }

  __device__ static Squares square(std::uint64_t magnitude) {
    if constexpr (wide) {
      return {magnitude * magnitude, __umul64hi(magnitude, magnitude), 0};
    } else {
      return magnitude * magnitude;
    }
  }

  BlockTotals& block_;
  Part sum_part_ = 0;
  Part square_part_ = 0;
  std::uint32_t absolute_part_ = 0;
  Signed sum_ = 0;
  Magnitude absolute_ = 0;
  Squares squares_{};
};

}  // namespace warpfold::cuda::kernels
