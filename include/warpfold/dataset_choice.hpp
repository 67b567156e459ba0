#pragma once

#include <string>
#include <vector>

namespace warpfold {

/// Datasets of one file.
struct DatasetChoice {
  /// Paths of datasets, or patterns: `*`, `?` and `[...]` as in a shell, without matching a slash.
  /// A path that exists is never a pattern.
  std::vector<std::string> names;
  bool all = false;  ///< every dataset of the file; `names` is ignored
};

/// Outcome of one of several datasets.
template <class Result>
struct DatasetOutcome {
  std::string dataset;  ///< path in the file
  std::string skipped;  ///< reason why it was skipped, or empty
  Result result;        ///< set unless the dataset was skipped
  bool failed = false;  ///< skipped because reading failed: a file is damaged or missing
};

}  // namespace warpfold
