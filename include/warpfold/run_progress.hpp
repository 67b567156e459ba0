#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warpfold/core/stage_timing.hpp"

namespace warpfold {

/// Progress of a run. Some runs pass over their data more than once, such as a histogram that first
/// has to find its range.
struct RunProgress {
  double seconds = 0;                 ///< since the run's start
  std::string dataset;                ///< current dataset, if the run has several
  std::size_t number = 1;             ///< its number, from 1
  std::size_t datasets = 1;           ///< number of datasets
  int pass = 0;                       ///< pass over that dataset, from 1; 0 while the run starts
  double pass_seconds = 0;            ///< since the pass's start
  std::uint64_t done = 0;             ///< bytes of the pass that all ranks together have processed
  std::uint64_t total = 0;            ///< bytes of the pass
  std::vector<StageProgress> stages;  ///< stages of this rank, in the order of the data flow
};

/// A function that receives a run's progress. On each rank that sets one, a thread of the run calls
/// it, also while the run waits for a file or for other ranks, and once more at the run's end. An
/// exception from it ends the run on all ranks. Once all data are processed, as in the last call,
/// it has no effect.
using ProgressCallback = std::function<void(const RunProgress&)>;

}  // namespace warpfold
