#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

std::unique_ptr<CompactEngine> make_compact_engine(const Device& device, const CompactPlan& plan);

}  // namespace warpfold::cuda
