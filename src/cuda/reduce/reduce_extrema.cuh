#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

#include "cuda/primitives/comparable.cuh"
#include "cuda/reduce/reduce_elements.cuh"

namespace warpfold::cuda::kernels {

/// The best elements a thread met, with FP64 arithmetic or without.
template <class T, bool Fp64>
class ThreadExtrema {
  static constexpr bool is_double = std::is_same_v<T, double> && !Fp64;
  using C = std::conditional_t<is_double, ComparedDouble, Comparable<T>>;

 public:
  /// Tiles come in ascending order, but for those of the edge, which come last.
  __device__ void take(const ThreadTile<T>& tile) {
    if (tile.present == ThreadTile<T>::vectors)
      take_elements(tile, tile.place);
    else if (tile.present != 0)
      take_one_by_one(tile, tile.present * Vector<T>::size, tile.place);
    else if (tile.place != no_offset)
      take_edge(compared(tile.vector[0].at(0)), tile.place);
  }

  __device__ BlockExtrema in(const ThreadShare<T>& share) const {
    if (min_.offset == no_offset) return {Extremum::none(), Extremum::none()};
    const auto minimum = widened(min_.value);
    const auto maximum = widened(maximum_.value);
    return {{ordered_key(minimum), share.index(min_.offset), value_bits(minimum)},
            {~ordered_key(maximum), share.index(maximum_.offset), value_bits(maximum)}};
  }

 private:
  /// Tells whether the extrema of a tile cost less than as many comparisons with the best.
  static constexpr bool has_minimum = sizeof(C) == 4;

  __device__ void take_one_by_one(const ThreadTile<T>& tile, unsigned count, std::uint32_t place) {
#pragma unroll 1
    for (unsigned i = 0; i < count; ++i) take(compared(tile.at(i)), place + i);
  }

  __device__ static auto widened(C value) {
    if constexpr (std::is_same_v<C, float>)
      return ComparedDouble::of(value);
    else
      return value;
  }

  __device__ static C compared(T element) {
    if constexpr (is_double)
      return {std::bit_cast<std::uint64_t>(element)};
    else
      return comparable(element);
  }

  __device__ static C lesser(C a, C b) {
    if constexpr (std::is_integral_v<C>)
      return a < b ? a : b;
    else
      return std::fmin(a, b);  // not NaN where either is not
  }
  __device__ static C greater(C a, C b) {
    if constexpr (std::is_integral_v<C>)
      return a > b ? a : b;
    else
      return std::fmax(a, b);
  }

  __device__ void take_elements(const ThreadTile<T>& tile, std::uint32_t place) {
    if constexpr (sizeof(T) == 1) {
      if (!has_better_byte(tile)) return;
      take_one_by_one(tile, ThreadTile<T>::size, place);
    } else if constexpr (has_minimum) {
      take_extremes(tile.elements(), place);
    } else {
      const auto elements = tile.elements();
      if constexpr (is_double)
        if (!may_have_better(tile)) return;
      bool better = min_.offset == no_offset;
#pragma unroll
      for (unsigned i = 0; i < ThreadTile<T>::size; ++i)
        better |= compared(elements[i]) < min_.value || compared(elements[i]) > maximum_.value;
      if (!better) return;
#pragma unroll
      for (unsigned i = 0; i < ThreadTile<T>::size; ++i) take(compared(elements[i]), place + i);
    }
  }

  /// Upper words of doubles, as floats, have the order of the doubles. Those of 2^1017 and more are
  /// NaN.
  __device__ static float upper(T element) {
    return std::bit_cast<float>(
        static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(element) >> 32));
  }

  __device__ bool may_have_better(const ThreadTile<T>& tile) const {
    const auto elements = tile.elements();
    float minimum = upper(elements[0]);
    float maximum = minimum;
    float nothing = 0;  // until a NaN comes
#pragma unroll
    for (unsigned i = 0; i < ThreadTile<T>::size; ++i) {
      const float element = upper(elements[i]);
      nothing = std::fmaf(element, 0.0f, nothing);
      if (i == 0) continue;
      minimum = std::fmin(minimum, element);
      maximum = std::fmax(maximum, element);
    }
    const bool none = minimum > upper(std::bit_cast<T>(min_.value)) &&
                      maximum < upper(std::bit_cast<T>(maximum_.value)) && nothing == 0;
    return !none;
  }

  __device__ void take_extremes(const typename ThreadTile<T>::Elements& elements,
                                std::uint32_t place) {
    C minimum = comparable(elements[0]);
    C maximum = minimum;
#pragma unroll
    for (unsigned i = 1; i < ThreadTile<T>::size; ++i) {
      minimum = lesser(minimum, comparable(elements[i]));
      maximum = greater(maximum, comparable(elements[i]));
    }
    const bool first = min_.offset == no_offset;
    if (first || minimum < min_.value) find(elements, place, minimum, min_);
    if (first || maximum > maximum_.value) find(elements, place, maximum, maximum_);
  }

  /// The first element that equals `value`: zeros may differ in sign. None does where all are NaN.
  __device__ static void find(const typename ThreadTile<T>::Elements& elements, std::uint32_t place,
                              C value, Best<C>& best) {
    Best<C> found{value, no_offset};
#pragma unroll
    for (unsigned i = ThreadTile<T>::size; i-- > 0;) {
      const C element = comparable(elements[i]);
      found.offset = element == value ? place + i : found.offset;
      found.value = element == value ? element : found.value;
    }
    if (found.offset != no_offset) best = found;
  }

  __device__ void take(C value, std::uint32_t place) {
    if (is_nan(value)) return;
    min_.take_lower(value, place);
    maximum_.take_higher(value, place);
  }

  __device__ bool is_better(C minimum, C maximum) const {
    return minimum < min_.value || maximum > maximum_.value || min_.offset == no_offset;
  }

  /// Two bytes at a time, as 16-bit halves in the order of unsigned bytes.
  __device__ bool has_better_byte(const ThreadTile<T>& tile) const {
    constexpr std::uint32_t bias = std::is_signed_v<T> ? 0x80808080u : 0;
    constexpr std::uint32_t even_bytes = 0x00ff00ffu;
    std::uint32_t minimum = even_bytes;
    std::uint32_t maximum = 0;
#pragma unroll
    for (unsigned j = 0; j < ThreadTile<T>::vectors; ++j) {
      const auto words = tile.vector[j].words();
#pragma unroll
      for (const std::uint32_t word : words.word) {
        const std::uint32_t even = (word ^ bias) & even_bytes;
        const std::uint32_t odd = ((word ^ bias) >> 8) & even_bytes;
        minimum = __vminu2(__vminu2(minimum, even), odd);
        maximum = __vmaxu2(__vmaxu2(maximum, even), odd);
      }
    }
    const auto element = [](std::uint32_t half) {
      return static_cast<C>(static_cast<T>((half & 0xffu) ^ (bias & 0xffu)));
    };
    return is_better(lesser(element(minimum), element(minimum >> 16)),
                     greater(element(maximum), element(maximum >> 16)));
  }

  __device__ void take_edge(C value, std::uint32_t place) {
    if (is_nan(value)) return;
    const bool before = place == ThreadShare<T>::head_place;
    if (before && value == min_.value) min_.offset = no_offset;
    if (before && value == maximum_.value) maximum_.offset = no_offset;
    take(value, place);
  }

  Best<C> min_;
  Best<C> maximum_;
};

}  // namespace warpfold::cuda::kernels
