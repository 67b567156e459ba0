#pragma once

#include "bench/harness/bench.hpp"

namespace warpfold::bench {

/// Of the current device.
DeviceFacts current_device_facts();

}  // namespace warpfold::bench
