#pragma once

#include <string>

#include "cli/common_options.hpp"
#include "cli/progress_bar.hpp"
#include "cli/session.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::cli {

/// A run under the user's eyes: it shows its progress and can be interrupted.
class WatchedRun {
 public:
  WatchedRun(const std::string& label, const Session& session, const CommonOptions& common);

  /// The options to run with; valid as long as this object.
  const RunOptions& options() const { return options_; }

 private:
  ProgressBar progress_;
  RunOptions options_;
};

}  // namespace warpfold::cli
