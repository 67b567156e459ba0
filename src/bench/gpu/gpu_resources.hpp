#pragma once

#include <cstdint>

#include "bench/harness/result.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::bench {

/// Describes the current device.
DeviceFacts current_device_facts();

/// Bytes of arrays that every rank's GPU, the current one, has room for. Collective. Throws Error.
std::uint64_t memory_for_arrays(const RunOptions& options, const mpi::Communicator& communicator);

/// This rank's threads for exact answers: those asked for, or its part of its host's cores.
/// Collective.
int threads_for_checks(const RunOptions& options, const mpi::Communicator& communicator);

}  // namespace warpfold::bench
