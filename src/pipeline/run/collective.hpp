#pragma once

#include <exception>
#include <functional>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// Runs `body` on every rank; if it throws on any, every rank throws that Error. `body` must not
/// communicate. Collective.
template <class Body>
void run_on_all(const mpi::Communicator& communicator, Body&& body) {
  std::exception_ptr failure;
  try {
    body();
  } catch (...) {
    failure = std::current_exception();
  }
  mpi::throw_on_all_ranks(failure, communicator);
}

/// As run_on_all, with `body` on the root alone.
template <class Body>
void run_on_root(const mpi::Communicator& communicator, Body&& body) {
  run_on_all(communicator, [&] {
    if (communicator.is_root()) body();
  });
}

/// The same for callers that hold a bare communicator.
void run_on_root(MPI_Comm communicator, const std::function<void()>& body);

}  // namespace warpfold::pipeline
