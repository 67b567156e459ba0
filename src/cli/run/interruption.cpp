#include "cli/run/interruption.hpp"

#include <csignal>

#include "io/output/temporary_file.hpp"

namespace warpfold::cli {
namespace {

std::atomic<bool> requested{false};
std::atomic<int> requesting{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free,
              "a signal handler sets them");

void request(int signal) {
  if (requesting.exchange(signal) == signal) {
    io::remove_noted_temporaries();
    std::signal(signal, SIG_DFL);
    std::raise(signal);  // which comes when this handler returns
  }
  requested.store(true);
}

}  // namespace

InterruptionHandlers::InterruptionHandlers() {
  requested.store(false);
  requesting.store(0);
  struct sigaction action {};
  action.sa_handler = request;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &previous_[i]);
    const bool kept_from_hangups = signals[i] == SIGHUP && previous_[i].sa_handler == SIG_IGN;
    if (kept_from_hangups) sigaction(SIGHUP, &previous_[i], nullptr);
  }
}

InterruptionHandlers::~InterruptionHandlers() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &previous_[i], nullptr);
}

const std::atomic<bool>& interruption_requested() { return requested; }

int interrupting_signal() { return requesting.load(); }

}  // namespace warpfold::cli
