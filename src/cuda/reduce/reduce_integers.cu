#include "cuda/reduce/reduce_kernel.cuh"

namespace warpfold::cuda::kernels {

#define WARPFOLD_INSTANTIATE(T)                                           \
  template void reduce_elements<T>(const ReduceArguments&, cudaStream_t); \
  template int resident_reduce_blocks_of<T>(const ReduceNeeds&)

WARPFOLD_INSTANTIATE(std::int8_t);
WARPFOLD_INSTANTIATE(std::uint8_t);
WARPFOLD_INSTANTIATE(std::int16_t);
WARPFOLD_INSTANTIATE(std::uint16_t);
WARPFOLD_INSTANTIATE(std::int32_t);
WARPFOLD_INSTANTIATE(std::uint32_t);
WARPFOLD_INSTANTIATE(std::int64_t);
WARPFOLD_INSTANTIATE(std::uint64_t);

#undef WARPFOLD_INSTANTIATE

}  // namespace warpfold::cuda::kernels
