#pragma once

#include <memory>

#include "core/backend.hpp"
#include "cuda/device.hpp"

namespace warpfold::cuda {

std::unique_ptr<HistogramEngine> make_histogram_engine(const Device& device,
                                                       const HistogramPlan& plan);

}  // namespace warpfold::cuda
