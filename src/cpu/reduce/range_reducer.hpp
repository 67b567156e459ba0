#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/results/accumulator.hpp"
#include "core/values/decoding.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/aligned_memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// One thread's consumer of elements.
class RangeSink : public InAlignedMemory {
 public:
  virtual ~RangeSink() = default;

  /// Takes `n` elements in the file's format, aligned to their size; the one at i has flat index
  /// indices(i).
  virtual void reduce(const std::byte* elements, std::uint64_t n,
                      const ElementIndices& indices) = 0;
};

/// One thread's reduction of any elements it is given.
class RangeReducer : public RangeSink {
 public:
  /// Returns the reduction of everything since the last take(), normalized.
  virtual Accumulator take() = 0;
};

/// Makes a reducer of elements that are values already, or that `decoding` is to be applied to.
std::unique_ptr<RangeReducer> make_range_reducer(const Kernels& kernels, ElementFormat format,
                                                 ReduceNeeds needs, const Decoding& decoding = {});

}  // namespace warpfold::cpu
