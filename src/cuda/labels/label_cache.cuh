#pragma once

#include <cstdint>

#include "cuda/labels/label_digits.cuh"
#include "cuda/labels/label_runs.cuh"

namespace warpfold::cuda::kernels {

/// Places of labels in a block's shared memory. A place belongs to the first label that the block
/// meets of those that share it, most likely the most frequent one. Few labels have several
/// places, for different lanes.
struct LabelPlaces {
  static constexpr unsigned count = 1024;
  static constexpr unsigned none = count;

  std::uint32_t owner[count];

  __device__ void clear() {
    for (unsigned i = threadIdx.x; i < count; i += label_threads) owner[i] = no_label;
  }

  /// Returns how many places each label has.
  __device__ static unsigned copies(std::uint64_t labels) {
    unsigned copies = warp::lanes;
    while (copies > 1 && copies * labels > count) copies /= 2;
    return copies;
  }

  /// Returns the label's place, or `none` where it belongs to another.
  __device__ unsigned find(std::uint32_t label, unsigned copies) {
    const unsigned first = (label ^ label / count) * copies;
    const unsigned place = (first + (static_cast<unsigned>(warp::lane()) & (copies - 1))) % count;
    std::uint32_t has = *static_cast<volatile std::uint32_t*>(owner + place);
    if (has == no_label) {
      has = atomicCAS(owner + place, no_label, label);
      if (has == no_label) has = label;
    }
    return has == label ? place : none;
  }
};

/// Sums of digits in shared memory: words of 64 bits as two of 32, whose atomics are faster.
template <int Count>
struct LabelCache {
  LabelPlaces places;
  std::uint32_t low[Count][LabelPlaces::count];
  std::uint32_t high[Count][LabelPlaces::count];

  __device__ void clear() {
    places.clear();
    for (unsigned i = threadIdx.x; i < LabelPlaces::count; i += label_threads) {
#pragma unroll
      for (int k = 0; k < Count; ++k) low[k][i] = high[k][i] = 0;
    }
  }

  __device__ void add(unsigned place, const LabelDigits<Count>& digits) {
#pragma unroll
    for (int k = 0; k < Count; ++k)
      if (digits.digit[k] != 0)
        add(low[k] + place, high[k] + place, static_cast<std::uint64_t>(digits.digit[k]));
  }

  __device__ LabelDigits<Count> at(unsigned place) const {
    LabelDigits<Count> digits;
#pragma unroll
    for (int k = 0; k < Count; ++k)
      digits.digit[k] =
          static_cast<std::int64_t>(std::uint64_t{high[k][place]} << 32 | low[k][place]);
    return digits;
  }

 private:
  __device__ static void add(std::uint32_t* low_word, std::uint32_t* high_word,
                             std::uint64_t addend) {
    const auto lower = static_cast<std::uint32_t>(addend);
    auto upper = static_cast<std::uint32_t>(addend >> 32);
    if (atomicAdd(low_word, lower) + lower < lower) ++upper;
    if (upper != 0) atomicAdd(high_word, upper);
  }
};

}  // namespace warpfold::cuda::kernels
