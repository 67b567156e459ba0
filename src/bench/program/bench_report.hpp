#pragma once

#include <string>

#include "bench/harness/result.hpp"
#include "cli/report/report.hpp"

namespace warpfold::bench {

/// Makes the report of measuring `what` ("reduce") by `command` ("bench").
cli::Report bench_report(const std::string& command, const std::string& what, const Result& result);

/// Throws Error where a row failed its check.
void refuse_wrong_results(const Result& result);

}  // namespace warpfold::bench
