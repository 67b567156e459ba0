#include "cuda/reduce/reduce_kernel.cuh"

namespace warpfold::cuda::kernels {

template void reduce_elements<double>(const ReduceArguments&, cudaStream_t);

template int resident_reduce_blocks_of<double>(const ReduceNeeds&);

}  // namespace warpfold::cuda::kernels
