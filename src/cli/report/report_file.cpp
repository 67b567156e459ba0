#include "cli/report/report_file.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "cli/report/report_target.hpp"
#include "cli/report/standard_output.hpp"
#include "io/output/temporary_file.hpp"

namespace warpfold::cli {
ReportFile::ReportFile(std::string target) : target_(std::move(target)) {
  if (target_ == standard_output) return;
  target_ = report_path(target_);
  if (is_device_or_pipe(target_)) {
    file_ = open_report(target_, 0);
    return;
  }
  io::remove_stale_temporaries(target_);
  io::TemporaryFile temporary = io::create_temporary_beside(target_, cannot_write_report(target_));
  temporary_path_ = std::move(temporary.path);
  file_ = std::move(temporary.lock);
}

ReportFile::~ReportFile() {
  if (!temporary_path_.empty() && file_) ::unlink(temporary_path_.c_str());
}

void ReportFile::write(std::string_view text) {
  if (target_ == standard_output) return print(text);
  while (!text.empty()) {
    const ssize_t written = ::write(file_.get(), text.data(), text.size());
    if (written < 0 && errno != EINTR) throw_unwritable_report(target_);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!temporary_path_.empty() && std::rename(temporary_path_.c_str(), target_.c_str()) != 0)
    throw_unwritable_report(target_);
  file_ = {};
}

}  // namespace warpfold::cli
