#pragma once

#include <string>

namespace warpfold {

/// Output options name the file that a run makes. Nothing is under its name before it is complete;
/// the same options make the same bytes, but where other datasets are kept.
struct OutputOptions {
  std::string path;     ///< the file
  std::string dataset;  ///< path in the file; the input's where empty
  /// May replace an existing file, though never the input; with `append`, or where `dataset` is
  /// given, a dataset of it of the same name: the others are kept.
  bool force = false;
  /// The command line: the newest line of the file's attribute `history` (CF conventions), above
  /// those of the input file, and the attribute `warpfold_command` of its datasets.
  std::string command;
  bool append = false;  ///< keeps an existing file with all its datasets, and adds to it
};

}  // namespace warpfold
