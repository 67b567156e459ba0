#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// One thread's fold of any elements it is given.
class RangeFolder {
 public:
  virtual ~RangeFolder() = default;

  /// Folds `n` elements in the file's format, aligned to their size; the one at i has flat index
  /// indices(first_place + i).
  virtual void fold(const std::byte* elements, std::uint64_t n, const BoxIndices& indices,
                    std::uint64_t first_place) = 0;

  /// Everything since the last take(), normalized.
  virtual Accumulator take() = 0;
};

std::unique_ptr<RangeFolder> make_range_folder(const Kernels& kernels, ElementFormat format,
                                               FoldNeeds needs);

}  // namespace warpfold::cpu
