#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "cuda/runtime/cuda_error.hpp"
#include "emulator/grid.hpp"

// In the place of src/cuda/runtime/launch.cuh: kernels run in emulated lanes.
namespace warpfold::cuda {

struct Launch {
  std::uint64_t blocks;
  int threads;
  cudaStream_t stream;
  std::size_t dynamic_shared_bytes = 0;
};

template <class... Parameters, class... Arguments>
void launch_emulated(const char* action, bool resident, void (*kernel)(Parameters...),
                     const Launch& by, const Arguments&... arguments) {
  const bool ran =
      emulator::run({static_cast<unsigned>(by.blocks), static_cast<unsigned>(by.threads),
                     by.dynamic_shared_bytes, resident},
                    [&] { kernel(arguments...); });
  check(ran ? cudaSuccess : cudaErrorInvalidConfiguration, action);
}

template <class... Parameters, class... Arguments>
void launch(const char* action, void (*kernel)(Parameters...), const Launch& by,
            const Arguments&... arguments) {
  launch_emulated(action, false, kernel, by, arguments...);
}

template <class Parameter>
void launch_resident(const char* action, void (*kernel)(Parameter), const Launch& by,
                     Parameter argument) {
  launch_emulated(action, true, kernel, by, argument);
}

template <class T>
T* dynamic_shared() {
  return reinterpret_cast<T*>(emulator::place->dynamic_shared);
}

}  // namespace warpfold::cuda
