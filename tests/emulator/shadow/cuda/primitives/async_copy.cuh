#pragma once

#include <vector_types.h>

#include <utility>
#include <vector>

#include "emulator/grid.hpp"

// In the place of src/cuda/primitives/async_copy.cuh: nothing arrives before it is waited for.
namespace warpfold::cuda {

/// What the lanes of a block have under way.
inline thread_local std::vector<std::pair<uint4*, const uint4*>> copies_under_way[1024];

inline void copy_async(uint4* to, const void* from) {
  copies_under_way[emulator::place->thread.x].emplace_back(to, static_cast<const uint4*>(from));
}

inline void wait_for_copies() {
  auto& copies = copies_under_way[emulator::place->thread.x];
  for (const auto& [to, from] : copies) *to = *from;
  copies.clear();
}

}  // namespace warpfold::cuda
