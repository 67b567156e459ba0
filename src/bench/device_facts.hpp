#pragma once

#include "bench/bench.hpp"

namespace warpfold::bench {

/// Of the current device.
DeviceFacts current_device_facts();

}  // namespace warpfold::bench
