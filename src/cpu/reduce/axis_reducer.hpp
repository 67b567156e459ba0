#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/layout/staged_chunks.hpp"
#include "core/results/axis_parts.hpp"
#include "core/values/decoding.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// One thread's reduction of slabs into outputs side by side.
class AxisReducer {
 public:
  virtual ~AxisReducer() = default;

  /// Forgets what was reduced.
  virtual void begin(std::uint64_t outputs) = 0;

  /// Does what an AxisReduceEngine's submit() does.
  virtual void reduce(const StagedChunks& slab, const std::byte* staging) = 0;

  /// Returns everything since begin().
  virtual AxisParts finish() = 0;
};

/// One that may have an output for each label instead.
class LabelReducer : public AxisReducer {
 public:
  /// Has slabs be rows of numbers.size() places from now on, of which place p belongs to output
  /// numbers[p], or to none where that is no_label; extrema then have the indices of their places.
  /// There are `outputs` of them, as many as before or more. Borrows the numbers.
  virtual void label(std::span<const std::uint32_t> numbers, std::uint64_t outputs) = 0;
};

std::unique_ptr<LabelReducer> make_axis_reducer(const Kernels& kernels, ElementFormat format,
                                                const Decoding& decoding, ReduceNeeds needs);

}  // namespace warpfold::cpu
