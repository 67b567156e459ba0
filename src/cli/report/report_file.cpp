#include "cli/report/report_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <utility>

#include "io/output/temporary_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

std::string cannot_write_report(const std::string& target) {
  return fmt::format("can't write the report {}", target);
}

void refuse_links_of_others(const std::string& target) {
  struct stat status {};
  if (::lstat(target.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return;
  if (status.st_uid == ::geteuid() || status.st_uid == 0) return;
  throw Error(cannot_write_report(target), "it is another user's link", "Name a file of your own.");
}

/// Returns the file that `target` names.
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

[[noreturn]] void throw_unwritable_report(const std::string& target) {
  throw Error(cannot_write_report(target), std::strerror(errno),
              "Name a file in a folder that you may write to, or - for standard output.");
}

/// Opens a device, a pipe or, with `more_flags`, a file to write to.
io::FileDescriptor open_report(const std::string& path, int more_flags) {
  constexpr mode_t as_umask_allows = 0666;
  io::FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | more_flags, as_umask_allows));
  if (!file) throw_unwritable_report(path);
  return file;
}

/// While it lives, a pipe without a reader is an error to this thread and nothing more.
class NoBrokenPipeSignal {
 public:
  NoBrokenPipeSignal() {
    sigemptyset(&broken_pipe_);
    sigaddset(&broken_pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &broken_pipe_, &before_);
  }
  ~NoBrokenPipeSignal() {
    const int error = errno;
    const std::timespec at_once{};
    if (sigismember(&before_, SIGPIPE) == 0)
      while (sigtimedwait(&broken_pipe_, nullptr, &at_once) == SIGPIPE) continue;
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    errno = error;
  }
  NoBrokenPipeSignal(const NoBrokenPipeSignal&) = delete;
  NoBrokenPipeSignal& operator=(const NoBrokenPipeSignal&) = delete;

 private:
  sigset_t broken_pipe_{};
  sigset_t before_{};
};

io::FileDescriptor open_log(const std::string& target) {
  if (target == standard_output)
    return io::FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  const std::string path = report_path(target);
  if (!is_device_or_pipe(path)) return open_report(path, O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW);
  io::FileDescriptor file = open_report(path, 0);
  ::fcntl(file.get(), F_SETFL, O_NONBLOCK);
  return file;
}

/// Returns how much of the text was written; errno tells why not all of it.
std::size_t write_all(int file, std::string_view text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t written = ::write(file, text.data() + done, text.size() - done);
    if (written < 0 && errno != EINTR) break;
    if (written > 0) done += static_cast<std::size_t>(written);
  }
  return done;
}

std::string reason() { return errno == EAGAIN ? "its reader is too slow" : std::strerror(errno); }

}  // namespace

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  throw Error("can't write to standard output", std::strerror(errno),
              "Check where it is redirected to.");
}

void print_remark(std::string_view text) {
  const std::string line = fmt::format("warpfold: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

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
  if (write_all(file_.get(), text) < text.size()) throw_unwritable_report(target_);
  if (!temporary_path_.empty() && std::rename(temporary_path_.c_str(), target_.c_str()) != 0)
    throw_unwritable_report(target_);
  file_ = {};
}

LineLog::LineLog(std::string target) : target_(std::move(target)), file_(open_log(target_)) {
  if (!file_) throw_unwritable_report(target_);
}

void LineLog::append(std::string_view line) {
  const NoBrokenPipeSignal no_signal;
  const std::string text = fmt::format("{}{}\n", torn_ ? "\n" : "", line);
  const std::size_t written = write_all(file_.get(), text);
  if (written == text.size()) {
    torn_ = false;
    return;
  }
  if (written > 0) torn_ = written > (torn_ ? 1U : 0U);
  if (std::exchange(warned_, true)) return;
  print_remark(
      fmt::format("warning: {} ({}) The run goes on.", cannot_write_report(target_), reason()));
}

}  // namespace warpfold::cli
