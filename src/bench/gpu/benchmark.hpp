#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "bench/harness/row.hpp"

namespace warpfold::bench {

/// One of those that are measured side by side.
struct Candidate {
  Row row;  ///< what is known before; with a note where it can't run, and nothing below then
  /// Puts launch number `launch` into the stream: each number means other data.
  std::function<void(std::uint64_t launch)> start;
  /// Returns once the result is on the host; empty where start() leaves nothing to wait for.
  std::function<void()> finish;
};

struct Protocol {
  int warm_up = 3;
  int iterations = 21;
};

/// Runs the candidates in turn, round after round, so that whatever befalls the machine befalls all
/// of them alike, and sets the times of those that can run. Each round has an order of its own, as
/// one that follows a copy pays for what the copy left in the cache to be written. Device time is
/// taken by events around each launch, host time from start() to the end of finish().
void hold_benchmark(std::vector<Candidate>& candidates, const Protocol& protocol,
                    cudaStream_t stream);

}  // namespace warpfold::bench
