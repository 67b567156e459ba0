#pragma once

#include "cli/run/measuring_program.hpp"

namespace warpfold::bench {

/// The Measurer of warpfold-bench.
void measure(const cli::Session& session, const cli::MeasuringRequest& request);

}  // namespace warpfold::bench
