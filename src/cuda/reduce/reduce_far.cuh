#pragma once

#include <cstdint>

#include "core/numeric/double_pair.hpp"
#include "cuda/reduce/reduce_block.cuh"

namespace warpfold::cuda::kernels {

/// In shared memory: an exact sum for each thread of a block, of what its registers hold no place
/// for, in `Terms` doubles. As long as the values' bits span no more than those do, it is a matter
/// of a few additions; what is left over goes to the block's number.
template <int Terms, class Number>
struct FarSums {
  double term[static_cast<std::size_t>(Terms)][reduce_threads];

  /// Each thread its own.
  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < Terms; ++i) term[i][threadIdx.x] = 0.0;
  }

  /// To the calling thread's sum. |value| < 2^970.
  __device__ void push(double value, Number& residues) { push_to(*this, value, residues); }

  /// Moves all threads' sums to the number. By all threads of the block.
  __device__ void flush(Number& number) {
#pragma unroll 1
    for (unsigned half = reduce_threads / 2; half > 0; half /= 2) {
      __syncthreads();
      if (threadIdx.x >= half) continue;
#pragma unroll 1
      for (int i = 0; i < Terms; ++i) push(term[i][threadIdx.x + half], number);
    }
    if (threadIdx.x != 0) return;
#pragma unroll 1
    for (int i = 0; i < Terms; ++i) add_to_shared(number, term[i][0]);
  }

 private:
  __device__ __noinline__ static void push_to(FarSums& sums, double value, Number& residues) {
#pragma unroll 1
    for (int i = 0; i < Terms && value != 0.0; ++i) {
      double& own = sums.term[i][threadIdx.x];
      const DoublePair sum = two_sum(own, value);
      own = sum.high;
      value = sum.low;
    }
    if (value != 0.0) add_to_shared(residues, value);
  }
};

}  // namespace warpfold::cuda::kernels
