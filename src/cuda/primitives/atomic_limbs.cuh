#pragma once

#include <cstdint>

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

}  // namespace warpfold::cuda
