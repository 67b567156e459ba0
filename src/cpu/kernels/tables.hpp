#pragma once

#include "cpu/kernels/kernels.hpp"

/// One table for each compilation of table.inl.
namespace warpfold::cpu {

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;    ///< x86-64 only
extern const Kernels kernels_avx512;  ///< x86-64 only

}  // namespace warpfold::cpu
