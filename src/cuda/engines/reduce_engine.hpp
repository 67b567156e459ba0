#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

/// A ReduceEngine on `device`, which must be current. Throws Error where the memory holds no slab
/// of 64 KiB.
std::unique_ptr<ReduceEngine> make_reduce_engine(const Device& device, const ReducePlan& plan);

}  // namespace warpfold::cuda
