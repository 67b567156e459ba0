#pragma once

#include <vector>

#include "io/chunk_source.hpp"
#include "io/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// The stages of one thread that reads chunks.
std::vector<StageTiming> chunk_timings(const io::DatasetInfo& info,
                                       const io::ChunkReadTimes& times);

}  // namespace warpfold::pipeline
