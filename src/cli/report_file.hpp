#pragma once

#include <string>
#include <string_view>

namespace warpfold::cli {

/// Where a report goes: standard output ("-"), or a file that gets its name once it is complete. A
/// file that can't be written is found out at construction, before a long run.
class ReportFile {
 public:
  /// Throws Error.
  explicit ReportFile(std::string target);
  ~ReportFile();
  ReportFile(ReportFile&& other) noexcept;
  ReportFile& operator=(ReportFile&&) = delete;

  /// Writes the whole report, once. Throws Error; then the target is what it was.
  void write(std::string_view text);

 private:
  std::string target_;
  std::string written_path_;  ///< a temporary name, or the target where that is a device or pipe
  int descriptor_ = -1;
};

}  // namespace warpfold::cli
