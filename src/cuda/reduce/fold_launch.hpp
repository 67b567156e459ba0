#pragma once

#include <cuda_runtime_api.h>

#include "cuda/reduce/fold.hpp"

namespace warpfold::cuda::kernels {

/// fold() of elements of type T.
template <class T>
void fold_elements(const FoldArguments& arguments, cudaStream_t stream);

template <class T>
int resident_fold_blocks_of(const FoldNeeds& needs);

}  // namespace warpfold::cuda::kernels
