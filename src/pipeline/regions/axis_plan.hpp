#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/tiling.hpp"
#include "core/results/accumulator.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/regions/axis_tiling.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::pipeline {

/// Returns extents for which boxes are read best: those whose counts and starts are multiples of
/// them; the chunks' where the dataset is chunked, otherwise 1 along all dimensions.
std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info);

/// Limits of a box of an AxisTiling.
struct AxisBoxLimits {
  std::uint64_t elements = 1;  ///< the most, unless one granule has more
  std::uint64_t outputs = 1;   ///< the most, whatever the granule
  std::uint64_t rows = 1;      ///< wanted, so that what each output needs is used so often
};

/// Returns extents of boxes for an array that has elements: multiples of the granule where the
/// limits allow one, with long runs of consecutive elements.
std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const AxisBoxLimits& limits);

/// Resources for work along axes.
struct AxisResources {
  std::uint64_t slab_elements = 1;
  std::uint64_t output_bytes = 1;  ///< that a thread needs for each output
  int threads = 1;                 ///< threads per rank
  int ranks = 1;
};

/// Returns a tiling for reducing: threads and ranks may share a tile.
AxisTiling tile_for_axis_reduce(const AxisShape& array, std::span<const std::uint64_t> granule,
                                const AxisResources& resources);

/// Whose a tile is while it is scanned.
enum class TileOwner : std::uint8_t {
  thread,  ///< so that there are to be several for each
  rank,    ///< so that there is to be one for each, of whole granules if that many are there
};

/// Returns a tiling for scanning.
AxisTiling tile_for_axis_scan(const AxisShape& array, std::span<const std::uint64_t> granule,
                              const AxisResources& resources, TileOwner owner);

/// How a dataset that has elements is worked through along axes, the same on every rank.
struct AxisPlan {
  AxisTiling tiling;
  int threads = 1;  ///< minimum per rank
  TileOwner owner = TileOwner::thread;

  /// Returns how many threads have work where a rank has so many items.
  int threads_for(std::uint64_t items) const;
};

/// How a dataset that has elements is worked through box by box, the same on every rank.
struct BoxPlan {
  Tiling boxes;
  int threads = 1;  ///< minimum per rank
};

/// Returns boxes that are read well, of about a slab's elements. Collective.
BoxPlan plan_boxes(const io::DatasetInfo& info, const Run& run);

/// Return the plan that all ranks can follow, for reducing what is needed and for scanning lines.
/// Collective.
AxisPlan plan_axis_reduce(const io::DatasetInfo& info, const AxisShape& array,
                          const ReduceNeeds& needs, const Run& run);
AxisPlan plan_axis_scan(const io::DatasetInfo& info, const AxisShape& lines, ElementType output,
                        const Run& run);

/// Returns the plan for finding quantiles of lines: each tile is one rank's, of whole granules if
/// so many of its outputs' elements, `element_bytes` each, stay within `memory`. Throws on every
/// rank where those of one don't. Collective.
AxisPlan plan_axis_quantiles(const io::DatasetInfo& info, const AxisShape& array,
                             std::size_t element_bytes, std::uint64_t memory, const Run& run);

}  // namespace warpfold::pipeline
