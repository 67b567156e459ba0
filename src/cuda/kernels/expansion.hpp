#pragma once

#include <cstdint>

#include "cuda/kernels/warp.hpp"
#include "warpfold/core/double_pair.hpp"
#include "warpfold/core/fixed_point.hpp"

namespace warpfold::cuda {

/// Adds digits to limbs that other threads add to at the same time.
class AtomicLimbs {
 public:
  __device__ explicit AtomicLimbs(std::int64_t* limbs) : limbs_(limbs) {}

  __device__ void operator()(int index, std::int64_t addend) const {
    atomicAdd(reinterpret_cast<unsigned long long*>(limbs_ + index),
              static_cast<unsigned long long>(addend));
  }

 private:
  std::int64_t* limbs_;
};

// Calls, not inlined code: rare, and greedy for registers.

template <class Number>
__device__ __noinline__ void add_to_shared(Number& number, double value) {
  Number::digits(value, AtomicLimbs(number.limb));
}

template <class Number>
__device__ __noinline__ void add_square_to_shared(Number& number, double value) {
  Number::square_digits(value, AtomicLimbs(number.limb));
}

/// The sum of what was pushed, exactly: `Terms` doubles of this thread plus the residues it sent to
/// the block's fixed-point number.
///
/// Terms never overflow: pushed values are below 2^970 in magnitude and one thread pushes fewer
/// than 2^32 of them.
template <int Terms, class Number>
class Expansion {
 public:
  __device__ explicit Expansion(Number& residues) : residues_(residues) {}

  __device__ void push(double value) {
#pragma unroll
    for (int i = 0; i < Terms; ++i) {
      const DoublePair sum = two_sum(term_[i], value);
      term_[i] = sum.high;
      value = sum.low;
    }
    if (value != 0.0) add_to_shared(residues_, value);
  }

  /// Moves the terms of the whole warp into the residues. To be called by all lanes, once.
  __device__ void flush() {
#pragma unroll 1
    for (int delta = warp::lanes / 2; delta > 0; delta /= 2) {
      double other[Terms];
#pragma unroll
      for (int i = 0; i < Terms; ++i) other[i] = warp::shuffle_down(term_[i], delta);
      if (warp::lane() < delta) {
#pragma unroll
        for (int i = 0; i < Terms; ++i) push(other[i]);
      }
    }
    if (warp::lane() == 0) {
#pragma unroll
      for (int i = 0; i < Terms; ++i) add_to_shared(residues_, term_[i]);
    }
  }

 private:
  Number& residues_;
  double term_[Terms] = {};
};

}  // namespace warpfold::cuda
