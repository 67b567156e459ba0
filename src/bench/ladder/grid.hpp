#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/core/partition.hpp"

namespace warpfold::cuda::ladder {

/// Blocks of `block_elements` that cover `elements`; one where there are none. A grid has room for
/// 2^31 - 1 of them, more than a device's memory has.
inline unsigned covering_blocks(std::uint64_t elements, std::uint64_t block_elements) {
  return static_cast<unsigned>(std::max<std::uint64_t>(ceil_div(elements, block_elements), 1));
}

}  // namespace warpfold::cuda::ladder
