#pragma once

namespace warpfold::cuda {

#ifdef WARPFOLD_BOTH_ARITHMETICS
inline constexpr bool compiles_both_arithmetics = true;
#else
inline constexpr bool compiles_both_arithmetics = false;
#endif

/// Return whether a kernel with FP64 arithmetic, or the one without, is compiled for an
/// architecture (as __CUDA_ARCH__): where GPUs that run its code may have many FP64 units, or few.
/// GPUs of either kind run code for 8.0 and 10.0. Such kernels take a minute to compile: only tests
/// need both for all architectures.
constexpr bool compiles_with_fp64(int architecture) {
  return compiles_both_arithmetics || architecture < 750 || architecture == 800 ||
         architecture == 900 || architecture == 1000;
}
constexpr bool compiles_without_fp64(int architecture) {
  return compiles_both_arithmetics || (architecture >= 750 && architecture != 900);
}

}  // namespace warpfold::cuda
