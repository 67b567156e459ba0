#pragma once

#include <string>

#include "bench/harness/result.hpp"
#include "cli/report/report.hpp"

namespace warpfold::cli {

/// Makes the report of measuring `what` ("reduce") by `command` ("bench").
Report bench_report(const std::string& command, const std::string& what,
                    const bench::Result& result);

/// Throws Error where a row failed its check.
void refuse_wrong_results(const bench::Result& result);

}  // namespace warpfold::cli
