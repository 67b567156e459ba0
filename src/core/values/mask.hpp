#pragma once

#include <cstdint>

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// A mask tells by their flat indices which elements count: the one at index i where bit
/// i / stride % period is set. The bits are another's.
struct Mask {
  static constexpr int word_bits = 64;

  const std::uint64_t* words = nullptr;  ///< bit b is that of weight 2^(b % 64) in words[b / 64]
  std::uint64_t period = 0;              ///< bits; 0: all elements count
  std::uint64_t stride = 1;              ///< consecutive elements that share a bit

  WARPFOLD_HD bool selects_all() const { return period == 0; }

  /// Returns whether the element at a flat index counts, of a mask that does not select all.
  WARPFOLD_HD bool selects(std::uint64_t index) const {
    const std::uint64_t bit = (stride == 1 ? index : index / stride) % period;
    return (words[bit / word_bits] >> bit % word_bits & 1) != 0;
  }
};

}  // namespace warpfold
