#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "warpfold/core/element_type.hpp"

namespace warpfold::bench::kernels {

enum class Pattern : std::uint8_t {
  uniform,  ///< floats in [0, 1); integers of full range
  wide,     ///< floats of random sign over 60 binary orders (f16: 20)
  steps     ///< -1, 0 or 1 (unsigned: 0 or 1): floats whose partial sums are exact
};

/// Fills an array with random elements, each a function of its index and `seed`. Wide integers are
/// not to be asked for.
void fill(void* elements, ElementType type, Pattern pattern, std::uint64_t count,
          std::uint64_t seed, cudaStream_t stream);

}  // namespace warpfold::bench::kernels
