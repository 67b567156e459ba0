#pragma once

#include <string_view>

#include "mpi/communicator.hpp"

namespace warpfold::mpi {

/// An environment is MPI, from construction to destruction. MPI is called from the constructing
/// thread alone.
class Environment {
 public:
  Environment();
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
};

/// Returns whether MPI runs in this process, whoever started it: it was started, and not ended
/// since.
bool is_running();

/// Returns how long starting MPI took this process; 0 where it wasn't an Environment that did.
double start_seconds();

/// Returns whether a launcher started this process, which may have bound it to some cores, or a
/// user did.
bool started_by_launcher(const Communicator& communicator);

/// Returns whether this process may be one of several, by the names of its environment variables:
/// every launcher tells a process its rank, most so by PMI or PMIx. Before MPI is started.
bool may_have_peers();

/// Ranks from which on exclusive scans go by doubling, unless the environment tells otherwise.
inline constexpr int default_ranks_of_doubling = 8;

/// Returns what the root's environment has in WARPFOLD_DOUBLING_RANKS, or the default; collective.
/// Throws Error, on all ranks, where it is no number from 1 to 2^31 - 1.
int ranks_of_doubling(const Communicator& communicator);

/// Returns whether this MPI (before it is started, its headers) takes addresses in GPU memory:
/// "CUDA-aware", "not CUDA-aware", or "" where it doesn't tell.
std::string_view cuda_awareness();

}  // namespace warpfold::mpi
