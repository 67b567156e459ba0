#include "cuda/reduce/fold_kernel.hpp"

namespace warpfold::cuda::kernels {

template void fold_elements<Float16>(const FoldArguments&, cudaStream_t);
template void fold_elements<BFloat16>(const FoldArguments&, cudaStream_t);
template void fold_elements<float>(const FoldArguments&, cudaStream_t);

template int resident_fold_blocks_of<Float16>(const FoldNeeds&);
template int resident_fold_blocks_of<BFloat16>(const FoldNeeds&);
template int resident_fold_blocks_of<float>(const FoldNeeds&);

}  // namespace warpfold::cuda::kernels
