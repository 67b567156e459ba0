#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

inline constexpr int fold_threads = 256;
inline constexpr int most_resident_fold_blocks = 2048 / fold_threads;

struct BlockExtrema {
  Extremum minimum;
  Extremum maximum;
};

/// In device memory: what launches leave there, one after the other. Digits of its sums lie within
/// (-2^33, 2^33) between launches, so that a few of them can be added before they are normalized.
struct FoldTotals {
  Accumulator total;
  std::uint32_t finished_blocks;  ///< of the launch under way; 0 between launches

  static FoldTotals empty() { return {Accumulator::empty(), 0}; }
};

/// In page-locked host memory, written by the device.
struct PublishedFold {
  Accumulator total;    ///< as in FoldTotals; the needed parts alone
  std::uint64_t epoch;  ///< written last
};

struct FoldArguments {
  const std::byte* elements;  ///< in device memory, aligned to their size
  std::uint64_t count;
  ElementFormat format;
  FoldNeeds needs;
  std::uint64_t first_index;    ///< the first element's flat index, or its place among `indices`
  FoldTotals* totals;           ///< in device memory
  BlockExtrema* block_extrema;  ///< in device memory, one for each block
  int blocks;
  /// Where the totals are to be moved to, as the device addresses it; the totals are empty
  /// afterwards. Null: they stay.
  PublishedFold* published = nullptr;
  std::uint64_t epoch = 0;
  const BoxIndices* indices = nullptr;  ///< in device memory; null: they are consecutive
  /// In device memory: how many there are, of elements that were kept of `count` at most; null:
  /// `count`. Such a fold publishes nothing.
  const std::uint64_t* kept = nullptr;
  const std::uint32_t* places = nullptr;  ///< theirs among the elements they were kept of
};

/// How many blocks of fold() one multiprocessor of the current device holds at once:
/// at most most_resident_fold_blocks.
int resident_fold_blocks(ElementType type, FoldNeeds needs = {});

/// As many blocks as are worth starting for an array of so many bytes, given how many the device
/// holds at once.
int fold_blocks(std::uint64_t bytes, int resident_blocks);

/// What a fold of kept elements fills, whatever is needed: one kernel a type will do for elements
/// that take longer to keep than to fold.
inline constexpr FoldNeeds needs_of_kept{true, true, true, true};

/// Adds the elements to the totals. More than is needed may be filled.
void fold(const FoldArguments& arguments, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
