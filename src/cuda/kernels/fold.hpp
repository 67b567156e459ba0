#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

inline constexpr int fold_threads = 256;

struct FoldArguments {
  const std::byte* elements;  ///< in device memory, aligned to 16 bytes
  std::uint32_t count;        ///< at most 2^30
  ElementFormat format;
  FoldNeeds needs;
  std::uint64_t first_index;  ///< the first element's flat index
  Accumulator* accumulators;  ///< in device memory, normalized; block i folds into number i
  int blocks;
};

/// How many blocks of fold() one multiprocessor of the current device holds at once.
int resident_fold_blocks(ElementType type);

/// Folds the elements into the accumulators, which end normalized.
void fold(const FoldArguments& arguments, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
