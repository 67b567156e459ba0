#define WARPFOLD_KERNEL_TABLE kernels_avx512
#define WARPFOLD_KERNEL_NAME "AVX-512"
#include "cpu/kernels/table.inl"
