#pragma once

#include <string>

#include "io/dataset/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Returns what held a run up, and what would help, in one line: "reading, busy 96% of the time:
/// more threads ...". Empty where no stage was timed.
std::string measured_bottleneck(const RunReport& run);

/// Returns how long one of `ranks` ranks is likely to take over a reduction on its cores, by the
/// same rates as expected_bottleneck().
double expected_seconds_on_cores(const io::DatasetInfo& info, int threads, int ranks);

/// Returns what is likely to hold a reduction up on one rank, of such rates as were measured on
/// current hardware with a file in the page cache: "decompressing, about 4.4 GB/s a rank: ...".
/// Empty for a dataset without elements.
std::string expected_bottleneck(const io::DatasetInfo& info, int threads, bool gpu);

}  // namespace warpfold::pipeline
