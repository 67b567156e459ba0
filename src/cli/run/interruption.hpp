#pragma once

#include <signal.h>

#include <array>
#include <atomic>

namespace warpfold::cli {

/// Interruption handlers let, while they live, SIGINT, SIGTERM and SIGHUP ask the program to leave
/// in order; the same signal again ends it at once, without temporary files. A program started by
/// nohup goes on ignoring SIGHUP.
class InterruptionHandlers {
 public:
  InterruptionHandlers();
  ~InterruptionHandlers();
  InterruptionHandlers(const InterruptionHandlers&) = delete;
  InterruptionHandlers& operator=(const InterruptionHandlers&) = delete;

 private:
  static constexpr std::array<int, 3> signals = {SIGINT, SIGTERM, SIGHUP};

  std::array<struct sigaction, signals.size()> previous_{};
};

/// Returns what is set once the program was asked to leave; cleared by the next handlers.
const std::atomic<bool>& interruption_requested();

/// Returns the signal that requested it; 0 where none did.
int interrupting_signal();

}  // namespace warpfold::cli
