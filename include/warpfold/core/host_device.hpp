#pragma once

/// Marks a function that both the host compiler and nvcc compile, so that both backends share it.
#ifdef __CUDACC__
#define WARPFOLD_HD __host__ __device__
#else
#define WARPFOLD_HD
#endif
