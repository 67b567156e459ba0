#pragma once

#include <cuda_runtime_api.h>
#include <vector_types.h>

#include <deque>
#include <utility>
#include <vector>

#include "emulator/grid.hpp"

// In the place of src/cuda/primitives/async_copy.cuh: nothing arrives before it is waited for.
namespace warpfold::cuda {

/// Whether the emulated GPU has them: from sm_80 on.
inline const bool has_async_copies = [] {
  int major = 0;
  cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
  return major >= 8;
}();

using Copies = std::vector<std::pair<uint4*, const uint4*>>;

/// Copies that the lanes of a block have under way: groups, the last one still open.
inline thread_local std::deque<Copies> copies_under_way[1024];

inline std::deque<Copies>& own_copies() {
  auto& copies = copies_under_way[emulator::place->thread.x];
  if (copies.empty()) copies.emplace_back();
  return copies;
}

inline void copy_async(uint4* to, const void* from) {
  if (!has_async_copies) {
    *to = *static_cast<const uint4*>(from);
    return;
  }
  own_copies().back().emplace_back(to, static_cast<const uint4*>(from));
}

inline void commit_copies() { own_copies().emplace_back(); }

template <int pending>
void wait_for_copies() {
  for (auto& copies = own_copies(); copies.size() > pending + 1; copies.pop_front())
    for (const auto& [to, from] : copies.front()) *to = *from;
}

}  // namespace warpfold::cuda
