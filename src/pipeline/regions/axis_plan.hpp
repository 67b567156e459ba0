#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/dataset/dataset.hpp"
#include "pipeline/regions/axis_cut.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// What work along axes is done with.
struct AxisResources {
  std::uint64_t slab_elements = 1;
  std::uint64_t output_bytes = 1;  ///< that a thread keeps for each output
  int threads = 1;                 ///< of each rank
  int ranks = 1;
};

/// What all ranks have, at least. A slab's elements have `element_bytes` in memory. Collective.
AxisResources agree_on_axis_resources(const io::DatasetInfo& info, std::size_t element_bytes,
                                      std::uint64_t output_bytes, const Run& run);

/// A cut for reducing: threads and ranks may share a tile.
AxisCut cut_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                            const AxisResources& means);

/// A cut for scanning: a tile is one thread's, so that there are to be several for each.
AxisCut cut_for_axis_scan(const AxisShape& array, std::span<const std::uint64_t> granule,
                          const AxisResources& means);

/// The boxes of a reduction, shared out: groups of a tile's boxes are numbered tile by tile.
struct AxisGroups {
  std::uint64_t tiles = 0;
  std::uint64_t boxes_of_tile = 0;
  std::uint64_t groups_of_tile = 1;  ///< 1 where there are tiles enough for all threads

  AxisGroups(const AxisCut& cut, const AxisResources& means);

  std::uint64_t all() const { return tiles * groups_of_tile; }
  std::uint64_t tile(std::uint64_t group) const { return group / groups_of_tile; }
  ElementRange boxes(std::uint64_t group) const;
  ElementRange share(int ranks, int rank) const;  ///< consecutive groups
};

}  // namespace warpfold::pipeline
