#pragma once

#include <exception>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// Returns what `body` throws, or null.
template <class Body>
std::exception_ptr capture_exception(Body&& body) {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

/// Runs `body` on every rank; if it throws on any, every rank throws that Error. `body` must not
/// communicate. Collective.
template <class Body>
void run_on_all(const mpi::Communicator& communicator, Body&& body) {
  mpi::throw_on_all_ranks(capture_exception(body), communicator);
}

/// Runs `body` as run_on_all does, on the root alone.
template <class Body>
void run_on_root(const mpi::Communicator& communicator, Body&& body) {
  run_on_all(communicator, [&] {
    if (communicator.is_root()) body();
  });
}

}  // namespace warpfold::pipeline
