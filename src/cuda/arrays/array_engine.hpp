#pragma once

#include <memory>

#include "core/engine/array_engine.hpp"

namespace warpfold::cuda {

/// Makes an engine for the current device. Throws Error where there is none.
std::unique_ptr<ArrayEngine> make_array_engine();

}  // namespace warpfold::cuda
