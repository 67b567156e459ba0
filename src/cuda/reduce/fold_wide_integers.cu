#include "cuda/reduce/fold_kernel.hpp"

namespace warpfold::cuda::kernels {

template void fold_elements<std::int32_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::int64_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::uint32_t>(const FoldArguments&, cudaStream_t);
template void fold_elements<std::uint64_t>(const FoldArguments&, cudaStream_t);

template int resident_fold_blocks_of<std::int32_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::int64_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::uint32_t>(const FoldNeeds&);
template int resident_fold_blocks_of<std::uint64_t>(const FoldNeeds&);

}  // namespace warpfold::cuda::kernels
