#pragma once

/// Marks a function that the host compiler and nvcc both compile: one definition of each operation
/// serves both backends.
#ifdef __CUDACC__
#define WARPFOLD_HD __host__ __device__
#else
#define WARPFOLD_HD
#endif
