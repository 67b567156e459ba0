#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "core/layout/partition.hpp"
#include "cuda/labels/label_runs.cuh"
#include "cuda/labels/label_table.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/launch.cuh"

namespace warpfold::cuda::kernels {

/// Work of kernels on slabs, as errors say it.
struct LabelWork {
  const char* preparing;
  const char* starting;
};

/// Launches as many blocks as the device holds at once, fewer where there are few elements.
template <class Kernel>
void start_on_slab(const LabelWork& work, Kernel kernel, const LabelTable& table,
                   const LabelSlab& slab, cudaStream_t stream) {
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, kernel, label_threads, 0),
        work.preparing);
  constexpr std::uint64_t worth_a_block = 2 * (label_threads / warp::lanes) * label_tile;
  const std::uint64_t blocks =
      std::min(ceil_div(slab.end - slab.begin, worth_a_block),
               static_cast<std::uint64_t>(resident) * static_cast<unsigned>(multiprocessors()));
  launch(work.starting, kernel, {blocks, label_threads, stream}, table, slab);
}

}  // namespace warpfold::cuda::kernels
