#pragma once

#include <string>
#include <string_view>

#include "io/files/posix_file.hpp"

namespace warpfold::cli {

/// Standard output ("-"), or a file, device or pipe that grows by lines while others read it. What
/// a file held before is gone. Links are followed as a ReportFile follows them.
class LineLog {
 public:
  /// Throws Error where it can't be written.
  explicit LineLog(std::string target);

  /// Appends a line at once, whole or not at all as far as the system lets it. Where that fails,
  /// says so on standard error, once, and goes on: a later line may fit again. A reader that is
  /// gone or slow doesn't keep the program.
  void append(std::string_view line);

 private:
  std::string target_;
  io::FileDescriptor file_;
  bool torn_ = false;    ///< the last line got no end
  bool warned_ = false;  ///< of a failure
};

}  // namespace warpfold::cli
