#include "pipeline/run_watch.hpp"

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {

void leave_if_interrupted(const RunOptions& options) {
  if (options.interrupted != nullptr && options.interrupted->load())
    throw Error("interrupted", "a signal arrived", "Nothing was written under the output's name.");
}

void report_progress(const RunOptions& options, std::uint64_t done, std::uint64_t total) {
  if (options.progress) options.progress(done, total);
}

}  // namespace warpfold::pipeline
