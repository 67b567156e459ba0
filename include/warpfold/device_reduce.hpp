#pragma once

#include <mpi.h>

#include "warpfold/array_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/device_array.hpp"

namespace warpfold {

/// Options as those of arrays in host memory.
using DeviceReduceOptions = ArrayReduceOptions;

/// Reduces an array in device memory in one pass, after the work queued on `stream`, and waits for
/// the result: the same bits on every rank, in any partition. Indices count over all ranks'
/// elements. Collective over `communicator`; MPI must be initialised, unless it is
/// MPI_COMM_SELF, options and type equal on all ranks. Throws the same Error on every rank.
///
/// DeviceCollectives does the same and is set up once for all calls.
Summary reduce(MPI_Comm communicator, const DeviceArray& array,
               const DeviceReduceOptions& options = {}, DeviceStream stream = nullptr);

}  // namespace warpfold
