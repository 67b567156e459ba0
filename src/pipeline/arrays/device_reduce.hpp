#pragma once

#include "cuda/arrays/array_engine.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/device_reduce.hpp"

namespace warpfold::pipeline {

/// As warpfold::reduce(), with an engine for this rank's device.
Summary reduce_device_array(const DeviceArray& array, const DeviceReduceOptions& options,
                            DeviceStream stream, cuda::ArrayEngine& engine,
                            const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
