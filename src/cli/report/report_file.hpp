#pragma once

#include <string>
#include <string_view>

#include "io/files/posix_file.hpp"

namespace warpfold::cli {

/// Where a report goes: standard output ("-"), or a file that gets its name once it is complete. A
/// file that can't be written is found out at construction, before a long run. Links are followed
/// where they are the user's own.
class ReportFile {
 public:
  /// Throws Error.
  explicit ReportFile(std::string target);
  ~ReportFile();
  ReportFile(ReportFile&&) noexcept = default;
  ReportFile& operator=(ReportFile&&) = delete;

  /// Writes the whole report, once. Throws Error; then the target is what it was.
  void write(std::string_view text);

 private:
  std::string target_;
  std::string temporary_path_;  ///< empty where the target is a device or pipe
  io::FileDescriptor file_;
};

}  // namespace warpfold::cli
