#pragma once

#include "cuda/arrays/array_engine.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/device_reduce.hpp"
#include "warpfold/device_scan.hpp"

namespace warpfold::pipeline {

/// Does what warpfold::reduce() does, with an engine for this rank's device.
Summary reduce_device_array(const DeviceArray& array, const DeviceReduceOptions& options,
                            DeviceStream stream, cuda::ArrayEngine& engine,
                            const mpi::Communicator& communicator);

/// Does what warpfold::scan() does, with an engine for this rank's device.
void scan_device_array(const DeviceArray& input, void* output, const DeviceScanOptions& options,
                       DeviceStream stream, cuda::ArrayEngine& engine,
                       const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
