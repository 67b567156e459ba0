#pragma once

#include <cstdint>
#include <string>

namespace warpfold {

/// A stage's timing is that of the rank whose threads were busiest in it. bytes / seconds is the
/// rate at which the stage would run if it never had to wait for another; stages of a run's start
/// take no bytes.
struct StageTiming {
  std::string stage;        ///< its name in reports: "read", "decompress", ...
  int threads = 1;          ///< working in it; a GPU counts as one
  double seconds = 0;       ///< busy, on average over the threads
  double waiting = 0;       ///< for other stages, on average over the threads
  std::uint64_t bytes = 0;  ///< taken through it, by all threads
};

/// A stage's progress is that of one rank while it runs.
struct StageProgress {
  std::string stage;        ///< as StageTiming's
  int threads = 0;          ///< the most that were in it at once; a GPU counts as one
  bool running = false;     ///< there are some in it now
  double busy = 0;          ///< seconds so far, of all threads added up
  std::uint64_t bytes = 0;  ///< taken through it so far
};

}  // namespace warpfold
