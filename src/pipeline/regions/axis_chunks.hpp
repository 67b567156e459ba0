#pragma once

#include <cstdint>

#include "core/engine/staging_plan.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Returns the chunks that an item of a tiling has a part in, at most; 0 where none are read.
std::uint64_t chunks_of_item(const RegionSource& source, const AxisTiling& tiling);

/// Returns what a GPU is to decompress of `items` items, if anything. It refers to the source.
CompressedChunks compressed_chunks(RegionSource& source, const AxisTiling& tiling,
                                   std::uint64_t items, const Run& run);

/// Returns how many parts of so many chunks each thread has under way, 2 to `most`, so that a GPU
/// has as many chunks as it decompresses at once.
int parts_under_way(std::uint64_t part_chunks, int threads, std::uint64_t most);

}  // namespace warpfold::pipeline
