#pragma once

#include <string>
#include <vector>

namespace warpfold {

/// Datasets of one file.
struct DatasetChoice {
  /// Paths of datasets, and patterns of them where no dataset has that very path: `*`, `?` and
  /// `[...]` stand for what they do in a shell, and for no slash.
  std::vector<std::string> names;
  bool all = false;  ///< all there are, whatever the names
};

/// An outcome is what came of one of several datasets.
template <class Result>
struct DatasetOutcome {
  std::string dataset;  ///< path in the file
  std::string skipped;  ///< why it can't be read, or empty
  Result result;        ///< set unless the dataset was skipped
  bool failed = false;  ///< skipped as reading it failed: a file is damaged or missing, say
};

}  // namespace warpfold
