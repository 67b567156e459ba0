#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "io/files/posix_file.hpp"
#include "io/output/temporary_file.hpp"

/// Reports go to standard output, or a file at the end of symbolic links. The links must be the
/// user's own or root's, as whoever may write to a folder could have its links point anywhere. Or
/// they go to a device or pipe; a pipe's reader is waited for, five seconds at most.
namespace warpfold::cli {

/// Writes `text` to standard output, all of it. Throws Error.
void print(std::string_view text);

/// Writes one line that starts with "warpfold: " to standard error.
void print_remark(std::string_view text);

/// This target stands for standard output.
inline constexpr std::string_view standard_output = "-";

/// A report goes to standard output, or to a file that gets its name once it is complete. A file
/// that can't be written is found out at construction, before a long run.
class ReportFile {
 public:
  /// Throws Error, also where `interrupted` is set while it waits for a pipe's reader, then or in
  /// write(); not asked where null.
  explicit ReportFile(std::string target, const std::atomic<bool>* interrupted = nullptr);
  ~ReportFile();
  ReportFile(ReportFile&&) noexcept = default;
  ReportFile& operator=(ReportFile&&) = delete;

  /// Writes a part of the report. Throws Error; then a file that was there is what it was.
  void append(std::string_view text);

  /// Writes the rest of the report. Throws as append() does.
  void write(std::string_view text);

 private:
  std::string target_;
  const std::atomic<bool>* interrupted_;
  io::TemporaryFile temporary_;  ///< has no path if the target is a device or pipe
};

/// A log goes to standard output, or to a file, device or pipe, line by line while others read it.
/// Earlier contents of a file are overwritten.
class LineLog {
 public:
  /// Throws Error where it can't be written, or as a ReportFile does.
  explicit LineLog(std::string target, const std::atomic<bool>* interrupted = nullptr);

  /// Appends a line at once, whole or not at all as far as the system lets it. Where that fails,
  /// says so on standard error, once, and goes on: a later line may fit again. A reader that is
  /// gone or slow doesn't keep the program.
  void append(std::string_view line);

 private:
  std::string target_;
  io::FileDescriptor file_;
  bool torn_ = false;    ///< whether the last line got no end
  bool warned_ = false;  ///< whether a failure was reported
};

}  // namespace warpfold::cli
