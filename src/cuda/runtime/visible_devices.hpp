#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpfold::cuda {

/// Returns whether this build has the CUDA backend; without it the functions below report no
/// devices.
bool built();

/// Names the toolkit and device code of this build: "CUDA 13.0, sm_80 sm_90 compute_120"; "none"
/// without.
std::string build_description();

struct DeviceInfo {
  std::string name;
  std::string identity;  ///< the device's UUID: the same for every process that sees it
  std::uint64_t memory_bytes = 0;
  std::string pci_bus_id;  ///< "0000:3b:00.0"
};

/// Lists the devices this process sees (CUDA_VISIBLE_DEVICES applies), none without a driver.
std::vector<DeviceInfo> visible_devices();

/// Says why visible_devices() is empty: "this build has no CUDA", "no CUDA driver", ...
std::string unavailable_reason();

}  // namespace warpfold::cuda
