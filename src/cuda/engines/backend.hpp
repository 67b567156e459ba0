#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "core/engine/backend.hpp"

namespace warpfold::cuda {

struct DeviceOptions {
  int device = 0;  ///< among the visible ones
  /// The most device memory the backend allocates; the default is 80% of what is free, divided by
  /// the processes that share the device.
  std::optional<std::uint64_t> memory_bytes;
  int sharing_processes = 1;
};

/// Makes the GPU backend. Throws Error, also where `memory_bytes` is too little for the smallest
/// slab.
std::unique_ptr<Backend> make_backend(const DeviceOptions& options);

}  // namespace warpfold::cuda
