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
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

constexpr std::string_view standard_output = "-";

[[noreturn]] void throw_unwritable(const std::string& target) {
  throw Error(fmt::format("can't write the report {}", target), std::strerror(errno),
              "Name a file in a folder that you may write to, or - for standard output.");
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
  target_ = resolved(target_);
  if (is_device_or_pipe(target_)) {
    written_path_ = target_;
    descriptor_ = ::open(target_.c_str(), O_WRONLY | O_CLOEXEC);
  } else {
    written_path_ = fmt::format("{}.{}.partial", target_, ::getpid());
    descriptor_ = ::open(written_path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  }
  if (descriptor_ < 0) throw_unwritable(target_);
}

ReportFile::~ReportFile() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  if (written_path_ != target_) ::unlink(written_path_.c_str());
}

ReportFile::ReportFile(ReportFile&& other) noexcept
    : target_(std::move(other.target_)),
      written_path_(std::move(other.written_path_)),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

void ReportFile::write(std::string_view text) {
  if (target_ == standard_output) return print(text);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno != EINTR) throw_unwritable(target_);
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  const bool renamed = written_path_ != target_;
  if (renamed && std::rename(written_path_.c_str(), target_.c_str()) != 0)
    throw_unwritable(target_);
  ::close(std::exchange(descriptor_, -1));
}

}  // namespace warpfold::cli
