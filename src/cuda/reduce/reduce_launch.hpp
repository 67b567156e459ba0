#pragma once

#include <cuda_runtime_api.h>

#include "cuda/reduce/reduce.hpp"

namespace warpfold::cuda::kernels {

/// reduce() of elements of type T.
template <class T>
void reduce_elements(const ReduceArguments& arguments, cudaStream_t stream);

template <class T>
int resident_reduce_blocks_of(const ReduceNeeds& needs);

}  // namespace warpfold::cuda::kernels
