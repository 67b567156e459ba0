#pragma once

#include <cstdint>

#include "core/layout/tiling.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// A dataset taken apart into slabs: boxes of whole chunks where chunks are read one by one,
/// otherwise ranges of its flat index space.
struct SlabTiling {
  /// Makes slabs of at most `slab_elements` (1 or more) elements, though of one chunk at least.
  SlabTiling(const io::DatasetInfo& info, std::uint64_t slab_elements);

  /// Returns the staging memory, in bytes, for a slab.
  std::uint64_t staging_bytes(const RegionSource& source) const;

  bool in_chunks;
  Tiling slabs;                ///< tiling of the grid of chunks, or of the elements
  std::uint64_t max_elements;  ///< maximum per slab
};

/// Threads and devices that a rank reads and computes with.
struct ThreadResources {
  int threads = 1;  ///< asked for, or its share of the cores
  bool gpu = false;
};

/// How one rank goes about a dataset's slabs.
struct SlabPlan {
  int threads = 1;
  int slots_per_thread = 1;
  std::uint64_t slab_elements = 1;
};

/// Returns the option, or what is chosen where it is 0 and a slab is all that counts.
std::uint64_t slab_bytes_of(const RunOptions& options);

/// Returns the plan of one of `ranks` ranks. What the options leave open is chosen so that slabs
/// are large against what each one costs, few enough threads share a path that doesn't gain by
/// more, each thread gets several slabs, and all slots together stay within a bound.
SlabPlan plan_slabs(const io::DatasetInfo& info, const RunOptions& options,
                    const ThreadResources& resources, int ranks);
SlabPlan plan_slabs(const io::DatasetInfo& info, const Run& run);

/// Return the threads that `slabs` slabs keep busy, and the slots for them.
int threads_for(const SlabPlan& plan, std::uint64_t slabs);
int slots_for(const SlabPlan& plan, int threads);

}  // namespace warpfold::pipeline
