#pragma once

#include <mpi.h>

#include "warpfold/array_options.hpp"
#include "warpfold/device_array.hpp"

namespace warpfold {

/// Options as those of arrays in host memory.
using DeviceScanOptions = ArrayScanOptions;

/// Writes the prefix scan of an array in device memory, after the work queued on `stream`, to
/// `output`: device memory for as many elements of the output type, aligned to them. It may be
/// `input.data` if both types have the same size. Work queued on `stream` later sees the prefixes;
/// the call may return before they are written. Ranks read their elements twice (reduce, exchange,
/// scan); the last one, or one alone, once.
///
/// Collective over `communicator`; MPI must be initialised, unless it is MPI_COMM_SELF, options and
/// types equal on all ranks. Throws the same Error on every rank.
///
/// DeviceCollectives does the same and is set up once for all calls.
void scan(MPI_Comm communicator, const DeviceArray& input, void* output,
          const DeviceScanOptions& options = {}, DeviceStream stream = nullptr);

}  // namespace warpfold
