#pragma once

#include <memory>
#include <string>

#include "core/backend.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

struct ChosenBackend {
  std::unique_ptr<Backend> backend;
  std::string fallback;  ///< why an automatic choice took the cpu, or empty
};

/// This rank's backend: its GPU by its place on the host among the visible devices, or its share of
/// the host's cores. Collective. Throws on every rank where a GPU is asked for and missing, and
/// where several ranks would meet on one GPU without `share_gpu`.
ChosenBackend choose_backend(const RunOptions& options, const mpi::Communicator& communicator);

/// Names, hosts and devices of a run; `seconds` and `stages` are left for the caller. Collective.
RunReport describe_run(const ChosenBackend& chosen, const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
