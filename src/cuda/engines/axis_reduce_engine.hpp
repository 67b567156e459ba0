#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

/// Throws Error where the device's memory is too little for one lane.
std::unique_ptr<AxisReduceEngine> make_axis_reduce_engine(const Device& device,
                                                          const AxisReducePlan& plan);

}  // namespace warpfold::cuda
