#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "warpfold/core/accumulator.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda::kernels {

// Each replaces the totals of tiles, or groups of them, by the total of those before, in place, and
// writes the total of all.

/// ExactSum::limbs columns of the limbs of `groups` of tiles; as many totals.
void limb_prefixes(std::int64_t* limbs, std::uint64_t groups, std::int64_t* totals,
                   cudaStream_t stream);

void integer_prefixes(int128* sums, std::uint64_t tiles, int128* total, cudaStream_t stream);

void extremum_prefixes(Extremum* extrema, std::uint64_t tiles, Extremum* total,
                       cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
