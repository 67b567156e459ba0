#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/regions/work_tiling.hpp"

namespace warpfold::pipeline {

/// Returns extents for which boxes are read best: those whose counts and starts are multiples of
/// them; the chunks' where the dataset is chunked, otherwise 1 along all dimensions.
std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info);

/// Returns how many outputs of an array have elements in a granule.
std::uint64_t granule_outputs(const AxisShape& array, std::span<const std::uint64_t> granule);

/// Limits of a box of a tile.
struct BoxLimits {
  std::uint64_t elements = 1;  ///< the most, unless one granule has more
  std::uint64_t outputs = 1;   ///< the most, whatever the granule
  std::uint64_t rows = 1;      ///< wanted, so that what each output needs is used so often
};

/// Returns extents of boxes for an array that has elements: multiples of the granule where the
/// limits allow one, with long runs of consecutive elements.
std::vector<std::uint64_t> choose_box_extents(const AxisShape& array,
                                              std::span<const std::uint64_t> granule,
                                              const BoxLimits& limits);

/// Takes a dataset that has elements apart into boxes or tiles, for so many ranks.
WorkTiling tile_boxes(const io::DatasetInfo& info, const WorkNeeds& needs, const WorkSizes& sizes,
                      int ranks);

}  // namespace warpfold::pipeline
