#pragma once

#include <mpi.h>

#include <cstdint>

#include "io/dataset.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// How a reduction cuts a dataset: each rank a partition, each partition into slabs.
struct SlabCut {
  std::uint64_t slab_elements = 0;  ///< of all slabs but a partition's last
  std::uint64_t granule = 0;        ///< partitions are whole multiples of it, in elements
};

/// Throws a usage Error unless 4 KiB <= slab_bytes <= 1 GiB.
void check_slab_bytes(std::uint64_t slab_bytes);

/// Whole chunk rows where that fits, so that ranks and slabs share no chunk.
SlabCut cut_into_slabs(const io::DatasetInfo& info, std::uint64_t slab_bytes, int ranks);

/// What `reduce` would do with these ranks and options; known on every rank.
struct Plan {
  RunReport run;  ///< without times
  std::uint64_t slab_elements = 0;
  std::uint64_t slabs_per_rank = 0;  ///< of the rank with the most
  std::uint64_t host_memory_bytes = 0;
};

/// Collective; `info` counts on rank 0 alone. Throws the same Error on every rank.
Plan plan_reduce(MPI_Comm communicator, const io::DatasetInfo& info, const RunOptions& options);

}  // namespace warpfold::pipeline
