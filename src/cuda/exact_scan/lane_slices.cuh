#pragma once

#include <bit>
#include <cstdint>

#include "core/numeric/slices.hpp"
#include "cuda/exact_scan/layout.cuh"
#include "cuda/exact_scan/rounding.cuh"
#include "cuda/exact_scan/window.cuh"

namespace warpfold::cuda::kernels {

/// A lane's sum in the slices of a window, each a double with a bias (see Slices).
template <class In, int Count>
class LaneSlices {
 public:
  double biased[Count];

  __device__ explicit LaneSlices(int top) : top_(top) {
#pragma unroll
    for (int i = 0; i < Count; ++i) biased[i] = bias(i);
  }

  __device__ double bias(int i) const { return bias_of_unit(slice_unit(top_, i)); }

  /// Returns what is left.
  __device__ double add(double placed) {
    return add(placed, [](int, double) {});
  }

  /// Calls see(i, what slice i leaves).
  template <class See>
  __device__ double add(double placed, See see) {
    const double lead = SummedFloat<In>::added(biased[0], placed);
    double rest = SummedFloat<In>::rest(placed, lead - biased[0]);
    biased[0] = lead;
    see(0, rest);
#pragma unroll
    for (int i = 1; i < Count; ++i) {
      const double sum = biased[i] + rest;
      rest -= sum - biased[i];
      biased[i] = sum;
      see(i, rest);
    }
    return rest;
  }

  /// Replaces the sum by units, in all `Count` slices.
  __device__ void set(const WindowSum& units) {
#pragma unroll
    for (int i = 0; i < Count; ++i) biased[i] = warpfold::biased(bias(i), units.slice[i]);
  }

  /// Returns the sum as a double to be rounded to an output element; of three slices plus `half`.
  template <class Out>
  __device__ double sum_for(double half) const {
    double part[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i) part[i] = biased[i] - bias(i);
    double high = part[0];
    double below = part[Count - 1];
    if constexpr (Count == 3) {
      // The sum of the upper two is exact where the first is less. What it drops is far below it.
      high += part[1];
      below = sum_to_odd(part[1] - (high - part[0]), below + half);
    } else {
      // After this, no part exceeds half a unit of the one above.
#pragma unroll
      for (int i = Count - 1; i > 0; --i) {
        const double carry = (part[i] + bias(i - 1)) - bias(i - 1);
        part[i] -= carry;
        part[i - 1] += carry;
      }
      high = part[Count - 1];
#pragma unroll
      for (int i = Count - 1; i > 0; --i) {
        const double sum = part[i - 1] + high;
        part[i] = high - (sum - part[i - 1]);
        high = sum;
      }
      below = part[Count - 1];
#pragma unroll
      for (int i = Count - 2; i > 0; --i) below = sum_to_odd(part[i], below);
    }
    return OutputRounding<Out>::sum(high, below);
  }

 private:
  int top_;
};

}  // namespace warpfold::cuda::kernels
