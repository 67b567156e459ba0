#pragma once

#include <mpi.h>

#include "warpfold/array_options.hpp"
#include "warpfold/core/summary.hpp"
#include "warpfold/device_array.hpp"

namespace warpfold {

/// The options of arrays in host memory.
using DeviceReduceOptions = ArrayReduceOptions;

/// Reduces an array in device memory in one pass, after the work queued on `stream`, and waits for
/// the result. Every rank gets the same bits, for any partition. Indices count over the elements of
/// all ranks. Collective over `communicator`, with equal options and type; MPI must be initialised,
/// unless it is MPI_COMM_SELF. Throws the same Error on every rank.
///
/// For repeated calls, DeviceCollectives sets up only once.
Summary reduce(MPI_Comm communicator, const DeviceArray& array,
               const DeviceReduceOptions& options = {}, DeviceStream stream = nullptr);

}  // namespace warpfold
