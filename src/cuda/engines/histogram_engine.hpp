#pragma once

#include <memory>

#include "core/engine/backend.hpp"
#include "cuda/runtime/device.hpp"

namespace warpfold::cuda {

std::unique_ptr<HistogramEngine> make_histogram_engine(const Device& device,
                                                       const HistogramPlan& plan);

}  // namespace warpfold::cuda
