#define WARPFOLD_KERNEL_TABLE kernels_avx2
#define WARPFOLD_KERNEL_NAME "AVX2"
#include "cpu/kernels/table.inl"
