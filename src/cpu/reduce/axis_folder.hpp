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

/// One thread's fold of slabs into outputs side by side.
class AxisFolder {
 public:
  virtual ~AxisFolder() = default;

  /// Forgets what was folded.
  virtual void begin(std::uint64_t outputs) = 0;

  /// As AxisFoldEngine::submit().
  virtual void fold(const StagedChunks& slab, const std::byte* staging, const BoxIndices& rows) = 0;

  /// Everything since begin().
  virtual AxisParts finish() = 0;
};

std::unique_ptr<AxisFolder> make_axis_folder(const Kernels& kernels, ElementFormat format,
                                             const Decoding& decoding, FoldNeeds needs);

}  // namespace warpfold::cpu
