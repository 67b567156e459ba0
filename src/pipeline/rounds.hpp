#pragma once

#include <cstdint>
#include <exception>

#include "mpi/agreement.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {

/// Calls step() until it returns false; no rank does so more than `most_steps` times before. Where
/// a rank's step throws, all ranks stop within a few steps and throw that Error. `step` must not
/// communicate. Collective.
template <class Step>
void in_rounds(const mpi::Communicator& communicator, std::uint64_t most_steps, Step&& step) {
  constexpr std::uint64_t steps_per_round = 8;
  std::exception_ptr failure;
  {
    mpi::FailureWatch watch(communicator);
    bool more = true;
    for (std::uint64_t round = 0; round < ceil_div(most_steps, steps_per_round); ++round) {
      try {
        for (std::uint64_t i = 0; i < steps_per_round && more && !failure; ++i) more = step();
      } catch (...) {
        failure = std::current_exception();
      }
      if (watch.round(failure != nullptr)) break;
    }
  }
  mpi::settle(failure, communicator);
}

}  // namespace warpfold::pipeline
