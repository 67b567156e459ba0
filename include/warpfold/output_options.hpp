#pragma once

#include <string>

namespace warpfold {

/// Output options name the file that a run makes. Nothing is under its name before it is complete;
/// the same options make the same bytes.
struct OutputOptions {
  std::string path;
  std::string dataset;  ///< path in the file; the input's where empty
  bool force = false;   ///< may replace an existing file, though never the input
  /// The command line: the newest line of the file's attribute `history` (CF conventions), above
  /// those of the input file, and the attribute `warpfold_command` of its datasets.
  std::string command;
};

}  // namespace warpfold
