#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "warpfold/run_progress.hpp"

namespace warpfold::cli {

/// A stage's rate is what a stage of one rank did in some time.
struct StageRate {
  std::string stage;
  int threads = 0;
  double busy = 0;  ///< the share of the time, on average over the threads: 0 to 1
  std::optional<double> gigabytes_per_second;  ///< rate while busy; none if it was not busy
  std::uint64_t bytes = 0;                     ///< taken through it since the run's start
};

/// A run's rates tell what happened between two looks at it.
struct RunRates {
  double gigabytes_per_second = 0;  ///< sum over the ranks
  std::vector<StageRate> stages;    ///< stages under way at the second look
};

/// Returns the rates from `before` to `now`, of the same run.
RunRates rates_between(const RunProgress& before, const RunProgress& now);

/// Returns the rate of the current pass, of all ranks; 0 if no time has passed.
double gigabytes_per_second(const RunProgress& progress);

/// Estimates the seconds that are left of the pass at its rate so far; none where that is not
/// known.
std::optional<double> seconds_left(const RunProgress& progress);

}  // namespace warpfold::cli
