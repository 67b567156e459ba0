#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

/// How many of the `wanted` lanes there is memory for. Throws Error where there is none for one;
/// `work` is what they do.
inline int lanes_that_fit(int wanted, std::uint64_t lane_bytes, std::uint64_t limit,
                          const std::string& work) {
  const std::uint64_t fitting = limit / lane_bytes;
  if (fitting == 0)
    throw Error(
        "the GPU memory allowed is too little to " + work,
        std::to_string(limit) + " bytes, and one thread's slabs take " + std::to_string(lane_bytes),
        "Raise `device_memory_bytes` to " + std::to_string(lane_bytes) +
            " or more, or give a smaller `slab_bytes`.");
  return static_cast<int>(
      std::min<std::uint64_t>(fitting, static_cast<unsigned>(std::max(wanted, 1))));
}

}  // namespace warpfold::cuda
