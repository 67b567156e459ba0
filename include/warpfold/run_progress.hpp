#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "warpfold/core/stage_timing.hpp"

namespace warpfold {

/// Progress of a run. Some runs pass over their data more than once: a histogram that has to find
/// its range first, a scan whose output is packed into chunks.
struct RunProgress {
  double seconds = 0;                 ///< since the run's start
  std::string dataset;                ///< in hand, where the run takes several
  std::size_t number = 1;             ///< the dataset's, from 1
  std::size_t datasets = 1;           ///< that the run takes
  int pass = 0;                       ///< over that dataset, from 1; 0 while nothing moves yet
  double pass_seconds = 0;            ///< since the pass's start
  std::uint64_t done = 0;             ///< bytes of the pass that all ranks together are done with
  std::uint64_t total = 0;            ///< bytes of the pass
  std::vector<StageProgress> stages;  ///< stages of this rank, in the order that data take
};

/// A progress callback receives a run's progress. On each rank that sets one, a thread of the run
/// calls it, also while the run waits for a file or for other ranks, and once more at the
/// run's end. What it throws ends the run on all ranks while they pass over data; once all have, as
/// in the last call, it changes nothing.
using ProgressCallback = std::function<void(const RunProgress&)>;

}  // namespace warpfold
