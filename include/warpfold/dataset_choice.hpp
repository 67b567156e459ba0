#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/applied_attributes.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold {

/// Datasets of one file.
struct DatasetChoice {
  /// Paths of datasets, or patterns: `*`, `?` and `[...]` as in a shell, without matching a slash.
  /// A path that exists is never a pattern.
  std::vector<std::string> names;
  bool all = false;  ///< every dataset of the file; `names` is ignored
};

/// Common results of all commands on a dataset that is read.
struct DatasetResult {
  ElementFormat format;                       ///< as stored
  ElementType value_type = ElementType::f64;  ///< type after unpacking
  AppliedAttributes applied;                  ///< attributes that unpacked the stored numbers
  std::vector<std::uint64_t> shape;           ///< shape of the input, as selected
  RunReport report;                           ///< the run: backend, threads, times
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
