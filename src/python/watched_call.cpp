#include "python/watched_call.hpp"

#include <nanobind/stl/string.h>
#include <signal.h>

#include <atomic>
#include <stdexcept>

namespace nb = nanobind;

namespace warpfold::python {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler sets it");

struct sigaction pythons_action {};

/// Has the run end, and then Python learn of the signal by its own handler.
void on_interrupt(int signal) {
  interrupted.store(true);
  pythons_action.sa_handler(signal);
}

/// Takes over from Python's handler, unless signals are ignored or end the process.
bool install_handler() {
  interrupted.store(false);
  if (sigaction(SIGINT, nullptr, &pythons_action) != 0) return false;
  const auto handler = pythons_action.sa_handler;
  if ((pythons_action.sa_flags & SA_SIGINFO) != 0 || handler == SIG_DFL || handler == SIG_IGN)
    return false;
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  action.sa_flags = SA_RESTART | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  return sigaction(SIGINT, &action, nullptr) == 0;
}

}  // namespace

MPI_Comm communicator_at(std::uintptr_t address) {
  return address == 0 ? MPI_COMM_SELF : *reinterpret_cast<const MPI_Comm*>(address);
}

WatchedCall::WatchedCall(nb::object progress, bool interruptible)
    : progress_(std::move(progress)), handles_interrupts_(interruptible && install_handler()) {}

WatchedCall::~WatchedCall() {
  if (handles_interrupts_) sigaction(SIGINT, &pythons_action, nullptr);
}

RunOptions WatchedCall::watched(RunOptions run) {
  if (handles_interrupts_) run.interrupted = &interrupted;
  if (!progress_.is_none()) run.progress = [this](const RunProgress& now) { tell(now); };
  return run;
}

void WatchedCall::tell(const RunProgress& now) {
  const nb::gil_scoped_acquire held;
  try {
    progress_(now.seconds, now.dataset, now.number, now.datasets, now.pass, now.pass_seconds,
              now.done, now.total);
  } catch (nb::python_error& error) {
    if (!raised_) raised_.emplace(std::move(error));
    throw std::runtime_error("the progress function raised an exception");
  }
}

void WatchedCall::finish(const std::exception_ptr& failure) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (raised_) throw nb::python_error(std::move(*raised_));
  if (failure) std::rethrow_exception(failure);
}

}  // namespace warpfold::python
