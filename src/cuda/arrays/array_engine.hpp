#pragma once

#include <cstdint>
#include <memory>

#include "core/engine/array_engine.hpp"

namespace warpfold::cuda {

/// Makes an engine for the current device. Throws Error where there is none.
std::unique_ptr<ArrayEngine> make_array_engine();

/// Does what warpfold::allocate_on_device() does; the current device stays so.
std::shared_ptr<void> allocate_array(int device, std::uint64_t bytes);

}  // namespace warpfold::cuda
