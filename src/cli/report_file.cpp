#include "cli/report_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <utility>

#include "cli/standard_output.hpp"
#include "io/temporary_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr std::string_view standard_output = "-";

std::string cannot_write(const std::string& target) {
  return fmt::format("can't write the report {}", target);
}

[[noreturn]] void throw_unwritable(const std::string& target) {
  throw Error(cannot_write(target), std::strerror(errno),
              "Name a file in a folder that you may write to, or - for standard output.");
}

/// Whoever may write to the folder could have it point anywhere.
void refuse_links_of_others(const std::string& target) {
  struct stat status {};
  if (::lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return;
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return;
  throw Error(cannot_write(target), "it is another user's link", "Name a file of your own.");
}

/// The file that `target` names, at the end of symbolic links.
std::string resolved(const std::string& target) {
  std::error_code missing;
  const std::filesystem::path path = std::filesystem::canonical(target, missing);
  return missing ? target : path.string();
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

}  // namespace

ReportFile::ReportFile(std::string target) : target_(std::move(target)) {
  if (target_ == standard_output) return;
  refuse_links_of_others(target_);
  target_ = resolved(target_);
  if (is_device_or_pipe(target_)) {
    file_ = io::FileDescriptor(::open(target_.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file_) throw_unwritable(target_);
    return;
  }
  io::remove_stale_temporaries(target_);
  io::TemporaryFile temporary = io::create_temporary_beside(target_, cannot_write(target_));
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
    if (written < 0 && errno != EINTR) throw_unwritable(target_);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  if (!temporary_path_.empty() && std::rename(temporary_path_.c_str(), target_.c_str()) != 0)
    throw_unwritable(target_);
  file_ = {};
}

}  // namespace warpfold::cli
