#include "cuda/arrays/array_engine.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/runtime/visible_devices.hpp"
#include "warpfold/core/error.hpp"

/// The CUDA layer of a build without CUDA.
namespace warpfold::cuda {

bool built() { return false; }

std::string build_description() { return "none"; }

std::vector<DeviceInfo> visible_devices() { return {}; }

std::string unavailable_reason() { return "this build has no CUDA"; }

std::unique_ptr<Backend> make_backend(const DeviceOptions&) {
  throw Error("the cuda backend is not available", unavailable_reason(),
              "Use `backend` cpu, or build with CUDA.");
}

std::unique_ptr<ArrayEngine> make_array_engine() {
  throw Error("there is no GPU for arrays in device memory", unavailable_reason(),
              "Build warpfold with CUDA.");
}

std::shared_ptr<void> allocate_array(int, std::uint64_t) {
  throw Error("there is no GPU for arrays in device memory", unavailable_reason(),
              "Build warpfold with CUDA.");
}

}  // namespace warpfold::cuda
