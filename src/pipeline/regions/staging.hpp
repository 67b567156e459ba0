#pragma once

#include <cstdint>

#include "core/engine/staging_plan.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Returns the memory, in bytes, that a slab or a box of a tiling takes.
std::uint64_t staging_bytes(const WorkTiling& tiling, const RegionSource& source);

/// Returns the sizes for an engine that takes a plan's slabs or boxes. They refer to the source,
/// which has the chunks that a GPU is to decompress, if any.
StagingPlan staging_plan(const WorkPlan& plan, RegionSource& source, const Decoding& decoding,
                         Run& run);

/// Returns how many boxes each thread has under way, of tiles' parts how many parts, so that a GPU
/// has as many chunks as it decompresses at once: 2 or more.
int under_way(const WorkPlan& plan, const RegionSource& source);

}  // namespace warpfold::pipeline
