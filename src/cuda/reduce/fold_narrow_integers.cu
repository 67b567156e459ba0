#include "cuda/reduce/fold_kernel.hpp"

namespace warpfold::cuda::kernels {

template void fold_elements<std::int8_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::int16_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::uint8_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::uint16_t>(const FoldArguments&, cudaStream_t);

template int resident_fold_blocks_of<std::int8_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::int16_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::uint8_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::uint16_t>(const FoldNeeds&);

}  // namespace warpfold::cuda::kernels
