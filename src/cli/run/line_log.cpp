#include "cli/run/line_log.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <utility>

#include "cli/report/report_target.hpp"
#include "cli/report/standard_output.hpp"

namespace warpfold::cli {
namespace {

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
