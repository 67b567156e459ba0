#pragma once

#include <cstdint>
#include <string>

namespace warpfold {

/// Timing of a stage, on the rank whose threads were busiest in it. bytes / seconds is the
/// throughput of the stage if it never had to wait for another. Stages of a run's start have no
/// bytes.
struct StageTiming {
  std::string stage;        ///< name in reports: "read", "decompress", ...
  int threads = 1;          ///< number of threads; a GPU counts as one
  double seconds = 0;       ///< busy time, average of the threads
  double waiting = 0;       ///< time waited for other stages, average of the threads
  std::uint64_t bytes = 0;  ///< bytes processed by all threads
};

/// Progress of a stage on one rank during a run.
struct StageProgress {
  std::string stage;        ///< name, as in StageTiming
  int threads = 0;          ///< maximum number at a time; a GPU counts as one
  bool running = false;     ///< a thread is in it now
  double busy = 0;          ///< seconds so far, sum of all threads
  std::uint64_t bytes = 0;  ///< bytes processed so far
};

}  // namespace warpfold
