#pragma once

#include <memory>

#include "core/backend.hpp"
#include "cuda/device.hpp"

namespace warpfold::cuda {

/// A FoldEngine on `device`, which must be current. Its slabs may be smaller than the plan's where
/// device memory is small: callers take buffer(0).size() as the slab's size. Throws Error where the
/// memory holds no slab of 64 KiB.
std::unique_ptr<FoldEngine> make_fold_engine(const Device& device, const FoldPlan& plan);

}  // namespace warpfold::cuda
