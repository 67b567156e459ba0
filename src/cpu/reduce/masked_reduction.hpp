#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/byte_mask.hpp"
#include "cpu/reduce/range_reducer.hpp"
#include "warpfold/core/array.hpp"

namespace warpfold::cpu {

/// Hands arrays in host memory to a reducer, without what a mask of bytes leaves out.
class MaskedReduction {
 public:
  explicit MaskedReduction(const Kernels& kernels) : mask_(kernels) {}

  /// Hands on the elements whose byte is not 0, or all where `mask` is null.
  void reduce(RangeSink& into, const Array& array, const std::uint8_t* mask);

 private:
  template <class Word>
  void reduce_words(RangeSink& into, const Word* elements, std::uint64_t count,
                    const std::uint8_t* mask);

  ByteMask mask_;
  alignas(64) std::byte packed_[block_elements * sizeof(double)];
};

}  // namespace warpfold::cpu
