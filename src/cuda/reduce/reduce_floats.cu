#include "cuda/reduce/reduce_kernel.cuh"

namespace warpfold::cuda::kernels {

template void reduce_elements<Float16>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<BFloat16>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<float>(const ReduceArguments&, cudaStream_t);

template int resident_reduce_blocks_of<Float16>(const ReduceNeeds&);
template int resident_reduce_blocks_of<BFloat16>(const ReduceNeeds&);
template int resident_reduce_blocks_of<float>(const ReduceNeeds&);

}  // namespace warpfold::cuda::kernels
