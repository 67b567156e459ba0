#pragma once

#include <cuda_runtime_api.h>

namespace warpfold::cuda {

/// Throws an Error that says which `action` failed, with the CUDA error's name and text; clears the
/// error from the calling thread.
void check(cudaError_t status, const char* action);

}  // namespace warpfold::cuda
