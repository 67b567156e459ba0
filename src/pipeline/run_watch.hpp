#pragma once

#include <cstdint>

#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Throws Error once the run's `interrupted` flag is set.
void leave_if_interrupted(const RunOptions& options);

void report_progress(const RunOptions& options, std::uint64_t done, std::uint64_t total);

}  // namespace warpfold::pipeline
