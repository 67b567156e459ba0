#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

/// A FoldEngine on `device`, which must be current. Throws Error where the memory holds no slab of
/// 64 KiB.
std::unique_ptr<FoldEngine> make_fold_engine(const Device& device, const FoldPlan& plan);

}  // namespace warpfold::cuda
