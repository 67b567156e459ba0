#pragma once

#include <string>

#include "io/dataset/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Returns what held a run up, and what would help, in one line: "reading, busy 96% of the time:
/// more threads ...". Empty where no stage was timed.
std::string measured_bottleneck(const RunReport& run);

/// Returns what is likely to hold a reduction up on one rank, of such rates as were measured on
/// current hardware with a file in the page cache: "decompressing, about 4.4 GB/s a rank: ...".
/// Empty for a dataset without elements.
std::string expected_bottleneck(const io::DatasetInfo& info, int threads, bool gpu);

}  // namespace warpfold::pipeline
