#pragma once

#include <chrono>
#include <cstddef>
#include <string>

#include "cli/options/common_settings.hpp"
#include "cli/run/stage_rates.hpp"
#include "warpfold/run_progress.hpp"

namespace warpfold::cli {

/// Makes "reduce [#####     ] 50%  1.00 GiB of 2.00 GiB  2.15 GB/s  1 s left  read 3.2 GB/s 67%,
/// fold 2.4 GB/s 90%": of all ranks, and of the stages that were busy lately, in GB/s of busy time
/// and the share of it. In `columns`, where not 0, by leaving out the less busy stages and, if need
/// be, the bar.
std::string progress_line(const std::string& command, const RunProgress& progress,
                          const RunRates& lately, std::size_t columns);

std::size_t terminal_columns();

/// A progress bar is a line on standard error that tells how far a run is; removed at its end.
class ProgressBar {
 public:
  ProgressBar(std::string command, ProgressWhen when);
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// Returns whether it may ever show anything.
  bool wanted() const { return wanted_; }

  void update(const RunProgress& progress, const RunRates& lately);

 private:
  using Clock = std::chrono::steady_clock;

  std::string command_;
  bool terminal_;
  bool wanted_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point next_;
  bool shown_ = false;
};

}  // namespace warpfold::cli
