#include "cuda/reduce/reduce_kernel.cuh"

namespace warpfold::cuda::kernels {

template void reduce_elements<std::int32_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::int64_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::uint32_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::uint64_t>(const ReduceArguments&, cudaStream_t);

template int resident_reduce_blocks_of<std::int32_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::int64_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::uint32_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::uint64_t>(const ReduceNeeds&);

}  // namespace warpfold::cuda::kernels
