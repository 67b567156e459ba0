#pragma once

#include <string>

namespace warpfold {

/// The file that a run makes. It appears under its name when it is complete. The same options make
/// the same bytes, unless other datasets are kept.
struct OutputOptions {
  std::string path;     ///< the file
  std::string dataset;  ///< path in the file; if empty, the input's
  /// Replace an existing file, though never the input. With `append`, or if `dataset` is given,
  /// replace only its dataset of the same name.
  bool force = false;
  /// The command line. It becomes the first line of the file's attribute `history` (CF
  /// conventions), above those of the input file, and the attribute `warpfold_command` of its
  /// datasets.
  std::string command;
  bool append = false;  ///< add to an existing file
};

}  // namespace warpfold
