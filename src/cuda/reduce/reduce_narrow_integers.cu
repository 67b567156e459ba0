#include "cuda/reduce/reduce_kernel.cuh"

namespace warpfold::cuda::kernels {

template void reduce_elements<std::int8_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::int16_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::uint8_t>(const ReduceArguments&, cudaStream_t);
template void reduce_elements<std::uint16_t>(const ReduceArguments&, cudaStream_t);

template int resident_reduce_blocks_of<std::int8_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::int16_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::uint8_t>(const ReduceNeeds&);
template int resident_reduce_blocks_of<std::uint16_t>(const ReduceNeeds&);

}  // namespace warpfold::cuda::kernels
