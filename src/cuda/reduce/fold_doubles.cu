#include "cuda/reduce/fold_kernel.hpp"

namespace warpfold::cuda::kernels {

template void fold_elements<double>(const FoldArguments&, cudaStream_t);

template int resident_fold_blocks_of<double>(const FoldNeeds&);

}  // namespace warpfold::cuda::kernels
