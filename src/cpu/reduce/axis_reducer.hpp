#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

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

std::unique_ptr<AxisReducer> make_axis_reducer(const Kernels& kernels, ElementFormat format,
                                               const Decoding& decoding, ReduceNeeds needs);

}  // namespace warpfold::cpu
