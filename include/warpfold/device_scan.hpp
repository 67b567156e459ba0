#pragma once

#include <mpi.h>

#include "warpfold/array_options.hpp"
#include "warpfold/device_array.hpp"

namespace warpfold {

/// The options of arrays in host memory.
using DeviceScanOptions = ArrayScanOptions;

/// Writes the prefix scan of an array in device memory, after the work queued on `stream`, to
/// `output`: device memory for `input.count` elements of the output type, aligned to them. It may
/// be `input.data` if both types have the same size. The call may return before the prefixes are
/// written; work queued on `stream` later sees them. Ranks read their elements twice (reduce,
/// exchange, scan); the last rank, or a single one, reads them once.
///
/// Collective over `communicator`, with equal options and types; MPI must be initialised, unless it
/// is MPI_COMM_SELF. Throws the same Error on every rank.
///
/// For repeated calls, DeviceCollectives sets up only once.
void scan(MPI_Comm communicator, const DeviceArray& input, void* output,
          const DeviceScanOptions& options = {}, DeviceStream stream = nullptr);

}  // namespace warpfold
