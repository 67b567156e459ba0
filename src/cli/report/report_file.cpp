#include "cli/report/report_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <system_error>
#include <thread>
#include <utility>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

std::string cannot_write_report(const std::string& target) {
  return fmt::format("cannot write the report {}", target);
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

bool is_pipe(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISFIFO(status.st_mode);
}

[[noreturn]] void throw_unwritable_report(const std::string& target) {
  throw Error(cannot_write_report(target), io::describe_errno(errno),
              "Name a file in a folder that you may write to, or - for standard output.");
}

io::FileDescriptor open_to_write(const std::string& path, int more_flags) {
  constexpr mode_t as_umask_allows = 0666;
  return io::FileDescriptor(
      ::open(path.c_str(), O_WRONLY | O_CLOEXEC | more_flags, as_umask_allows));
}

void leave_if_set(const std::atomic<bool>* interrupted, const std::string& path) {
  if (interrupted != nullptr && interrupted->load())
    throw Error("interrupted", "a signal arrived while '" + path + "' kept the report waiting", "");
}

/// Opens a device or pipe, whose reader may be slow: writing doesn't wait for it.
io::FileDescriptor open_device(const std::string& path, const std::atomic<bool>* interrupted) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  for (;;) {
    io::FileDescriptor file = open_to_write(path, O_NONBLOCK);
    if (file) return file;
    if (errno != ENXIO || !is_pipe(path)) throw_unwritable_report(path);
    leave_if_set(interrupted, path);
    if (std::chrono::steady_clock::now() >= end)
      throw Error(cannot_write_report(path), "it is a pipe that no program reads",
                  "Start its reader first, or name a file.");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
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

io::FileDescriptor open_log(const std::string& target, const std::atomic<bool>* interrupted) {
  if (target == standard_output)
    return io::FileDescriptor(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0));
  const std::string path = report_path(target);
  if (is_device_or_pipe(path)) return open_device(path, interrupted);
  return open_to_write(path, O_CREAT | O_TRUNC | O_APPEND | O_NOFOLLOW);
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

/// Waits for a slow reader, though not for long.
void await_room(int pipe) {
  constexpr int patience_ms = 50;
  struct pollfd wanted {
    pipe, POLLOUT, 0
  };
  ::poll(&wanted, 1, patience_ms);
}

std::string reason() {
  return errno == EAGAIN ? "its reader is too slow" : io::describe_errno(errno);
}

}  // namespace

void print(std::string_view text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return;
  throw Error("cannot write to standard output", io::describe_errno(errno),
              "Check where it is redirected to.");
}

void print_remark(std::string_view text) {
  const std::string line = fmt::format("warpfold: {}\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

ReportFile::ReportFile(std::string target, const std::atomic<bool>* interrupted)
    : target_(std::move(target)), interrupted_(interrupted) {
  if (target_ == standard_output) return;
  target_ = report_path(target_);
  if (is_device_or_pipe(target_)) {
    temporary_.lock = open_device(target_, interrupted);
    return;
  }
  io::remove_stale_temporaries(target_);
  temporary_ = io::create_temporary_beside(target_, cannot_write_report(target_));
}

ReportFile::~ReportFile() {
  if (!temporary_.path.empty() && temporary_.lock) ::unlink(temporary_.path.c_str());
}

void ReportFile::append(std::string_view text) {
  if (target_ == standard_output) return print(text);
  const NoBrokenPipeSignal no_signal;
  for (;;) {
    text.remove_prefix(write_all(temporary_.lock.get(), text));
    if (text.empty()) break;
    if (errno != EAGAIN) throw_unwritable_report(target_);
    leave_if_set(interrupted_, target_);
    await_room(temporary_.lock.get());
  }
}

void ReportFile::write(std::string_view text) {
  append(text);
  if (!temporary_.path.empty() && std::rename(temporary_.path.c_str(), target_.c_str()) != 0)
    throw_unwritable_report(target_);
  temporary_.lock = {};
}

LineLog::LineLog(std::string target, const std::atomic<bool>* interrupted)
    : target_(std::move(target)), file_(open_log(target_, interrupted)) {
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
      fmt::format("warning: {}: {}. The run continues.", cannot_write_report(target_), reason()));
}

}  // namespace warpfold::cli
