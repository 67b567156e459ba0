#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"

namespace warpfold::cuda {

/// Whether this build has the CUDA backend; without it the functions below report no devices.
bool built();

/// Toolkit and device code of this build: "CUDA 13.0, sm_80 sm_90 compute_120"; "none" without.
std::string build_description();

struct DeviceInfo {
  std::string name;
  std::string identity;  ///< the device's UUID: the same for every process that sees it
  std::uint64_t memory_bytes = 0;
  std::string pci_bus_id;  ///< "0000:3b:00.0"
};

/// The devices this process sees (CUDA_VISIBLE_DEVICES applies), none without a driver.
std::vector<DeviceInfo> visible_devices();

/// Why visible_devices() is empty: "this build has no CUDA", "no CUDA driver", ...
std::string unavailable_reason();

struct DeviceOptions {
  int device = 0;  ///< among the visible ones
  /// The most device memory the backend allocates; the default is 80% of what is free, divided by
  /// the processes that share the device.
  std::optional<std::uint64_t> memory_bytes;
  int sharing_processes = 1;
};

/// The GPU backend. Throws Error, also where `memory_bytes` is too little for the smallest slab.
std::unique_ptr<Backend> make_backend(const DeviceOptions& options);

}  // namespace warpfold::cuda
