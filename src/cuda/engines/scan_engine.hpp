#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

/// A ScanEngine on `device`, which must be current. Throws Error where the memory holds no tile.
std::unique_ptr<ScanEngine> make_scan_engine(const Device& device, const ScanPlan& plan);

}  // namespace warpfold::cuda
