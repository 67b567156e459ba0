#include "cli/report/report_target.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

void refuse_links_of_others(const std::string& target) {
  struct stat status {};
  if (::lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return;
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return;
  throw Error(cannot_write_report(target), "it is another user's link", "Name a file of your own.");
}

}  // namespace

std::string report_path(const std::string& target) {
  refuse_links_of_others(target);
  std::error_code missing;
  const std::filesystem::path path = std::filesystem::canonical(target, missing);
  return missing ? target : path.string();
}

bool is_device_or_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}

std::string cannot_write_report(const std::string& target) {
  return fmt::format("can't write the report {}", target);
}

void throw_unwritable_report(const std::string& target) {
  throw Error(cannot_write_report(target), std::strerror(errno),
              "Name a file in a folder that you may write to, or - for standard output.");
}

io::FileDescriptor open_report(const std::string& path, int more_flags) {
  constexpr mode_t as_umask_allows = 0666;
  io::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | more_flags, as_umask_allows));
  if (!file) throw_unwritable_report(path);
  return file;
}

}  // namespace warpfold::cli
