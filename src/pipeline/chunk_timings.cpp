#include "pipeline/chunk_timings.hpp"

#include "pipeline/stage_clock.hpp"

namespace warpfold::pipeline {

std::vector<StageTiming> chunk_timings(const io::DatasetInfo& info,
                                       const io::ChunkReadTimes& times) {
  std::vector<StageTiming> stages{{stage::read, 1, times.read_seconds, 0, times.read_bytes}};
  if (!info.filters.empty())
    stages.push_back({stage::decompress, 1, times.decode_seconds, 0, times.decoded_bytes});
  return stages;
}

}  // namespace warpfold::pipeline
