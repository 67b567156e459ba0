#pragma once

#include <mpi.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "warpfold/run_options.hpp"

namespace warpfold::python {

/// Returns the communicator that an MPI_Comm at this address names; of 0, this process alone.
MPI_Comm communicator_at(std::uintptr_t address);

/// A watched call is one of the library's that Python's progress function watches and Ctrl-C ends.
/// Made and used by the thread that calls, which holds the GIL; one at a time where interruptible.
class WatchedCall {
 public:
  /// `progress` is called with the members of RunProgress up to `total`, or None. `interruptible`:
  /// the thread is Python's main one, whose handler of SIGINT is called as ever.
  WatchedCall(nanobind::object progress, bool interruptible);
  ~WatchedCall();
  WatchedCall(const WatchedCall&) = delete;
  WatchedCall& operator=(const WatchedCall&) = delete;

  /// Returns `run` with what lets it be watched and ended.
  RunOptions watched(RunOptions run);

  /// Returns what body() does, without the GIL. Throws what a handler of signals or `progress`
  /// raised, or else what body() throws.
  template <class Body>
  auto operator()(Body&& body) {
    std::optional<std::invoke_result_t<Body>> result;
    std::exception_ptr failure;
    {
      const nanobind::gil_scoped_release released;
      try {
        result.emplace(body());
      } catch (...) {
        failure = std::current_exception();
      }
    }
    finish(failure);
    return std::move(*result);
  }

 private:
  void tell(const RunProgress& now);
  void finish(const std::exception_ptr& failure);

  nanobind::object progress_;
  std::optional<nanobind::python_error> raised_;  ///< error of `progress`
  bool handles_interrupts_ = false;
};

}  // namespace warpfold::python
