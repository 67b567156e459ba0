#define WARPFOLD_KERNEL_TABLE kernels_baseline
#define WARPFOLD_KERNEL_NAME "baseline"
#include "cpu/kernels/table.inl"
