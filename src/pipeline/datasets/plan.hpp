#pragma once

#include <mpi.h>

#include <cstdint>
#include <string>

#include "io/dataset/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// What `reduce` would do with these ranks and options; known on every rank. Threads, slots and
/// memory are those of the rank with the most.
struct Plan {
  RunReport run;  ///< without times
  int threads = 1;
  int slots = 1;                    ///< slabs that can be under way at once
  std::uint64_t slab_elements = 0;  ///< the most
  std::uint64_t slabs_per_rank = 0;
  std::uint64_t host_memory_bytes = 0;  ///< for slabs
  std::string bottleneck;  ///< what is expected to set the pace, and what would help; or empty
};

/// Collective; `info` counts on rank 0 alone. Throws the same Error on every rank.
Plan plan_reduce(MPI_Comm communicator, const io::DatasetInfo& info, const RunOptions& options);

}  // namespace warpfold::pipeline
