#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/primitives/comparable.cuh"

namespace warpfold::cuda::kernels {

/// Sums of doubles that do not round.
///
/// In a window of exponent E lie zero and magnitudes from 2^(E - orders) up to, excluding, 2^E:
/// multiples of some unit 2^(E - bits). An element is split into slices: what a double of about 1.5
/// * 2^52 u grows by when the element is added is the element rounded to a multiple of u, and what
/// that leaves is exact and at most u/2 in magnitude. (S. M. Rump, T. Ogita, S. Oishi, Accurate
/// floating-point summation, SIAM J. Sci. Comput. 31, 2008; J. Demmel, H. D. Nguyen, Parallel
/// reproducible summation, IEEE Trans. Comput. 64, 2015.)
///
/// So a slice's sum starts at 1.5 * 2^52 of its units. It counts them in its lower bits, as long as
/// they are 2^51 at most: 2^headroom elements.
inline constexpr int slice_sum_bits = 51;

/// 1.5 * 2^exponent, a normal double. Made of words: of bias_of_unit() a kernel spills.
__device__ inline double one_and_a_half(int exponent) {
  return __hiloint2double(((exponent + 1023) << 20) | 0x80000, 0);
}

/// A sum, in units of 2^exponent, of nothing.
__device__ inline double empty_sum(int exponent) { return one_and_a_half(exponent + 52); }

/// Adds what of `x` is a multiple of the sum's unit, and returns it.
__device__ inline double add_rounded(double x, double& sum) {
  const double before = sum;
  sum = before + x;
  return sum - before;
}

/// Rounds to a multiple of the unit of such a sum.
__device__ inline double rounded(double x, double sum) { return (x + sum) - sum; }

/// Returns the same number of units, each 2^orders times as great.
__device__ inline double in_greater_units(double sum, int orders) {
  return __hiloint2double(__double2hiint(sum) + (orders << 20), __double2loint(sum));
}

/// The same as add_rounded() for x * x.
__device__ inline double add_rounded_square(double x, double& sum) {
  const double before = sum;
  sum = std::fma(x, x, before);
  return sum - before;
}

enum class Power : std::uint8_t { value, magnitude, square };

/// Elements as they are, which one sum of 51 - headroom bits takes.
template <int Headroom, int SignificandBits>
class ValueSlice {
  static constexpr int width = slice_sum_bits - Headroom;

 public:
  static constexpr int sums = 1;
  static constexpr int headroom = Headroom;
  static constexpr int orders = width - (SignificandBits - 1);

  static constexpr Power power(int) { return Power::value; }
  static constexpr bool twice(int) { return false; }
  __device__ static constexpr int unit(int, int exponent) { return exponent - width; }

  __device__ static void add(double x, double (&sum)[sums]) { sum[0] += x; }
};

/// Returns `value`, or -value where `sign` is negative.
__device__ inline double with_sign_flipped_by(double value, double sign) {
  const int flip = __double2hiint(sign) & static_cast<int>(0x80000000u);
  return __hiloint2double(__double2hiint(value) ^ flip, __double2loint(value));
}

/// Elements of short significands and their squares. Multiples x of v = 2^(E-45) have squares that
/// are multiples of vv: |x| <= 2^45 v. A square is a + b, a in units u = 2^(2E-45) and |b| <= u/2 =
/// 2^44 vv; fused operations find both from x.
template <int SignificandBits, bool Magnitudes>
class ShortSquareSlices {
 public:
  static constexpr int sums = Magnitudes ? 4 : 3;
  static constexpr int headroom = 6;
  static constexpr int orders = 45 - (SignificandBits - 1);

  static constexpr Power power(int sum) {
    return sum < 2 ? Power::square : sum == 2 ? Power::value : Power::magnitude;
  }
  static constexpr bool twice(int) { return false; }
  __device__ static constexpr int unit(int sum, int exponent) {
    return sum < 2 ? 2 * exponent - 45 * (sum + 1) : exponent - 45;
  }

  __device__ static void add(double x, double (&sum)[sums]) {
    const double a = add_rounded_square(x, sum[0]);
    sum[1] += std::fma(x, x, -a);
    sum[2] += x;
    if constexpr (Magnitudes) sum[3] += std::fabs(x);
  }
};

/// Doubles and their squares: x = a + b + c in units u = 2^(E-23), v = 2^(E-47), w = 2^(E-70), and
/// r = b + c. |a| <= 2^23 u, |b| <= 2^23 v, |c| <= 2^22 w and |r| <= 2^46 w; products of two slices
/// are below 2^46 of their units.
template <bool Magnitudes>
class LongSquareSlices {
 public:
  static constexpr int sums = Magnitudes ? 10 : 8;
  static constexpr int headroom = 5;
  static constexpr int orders = 70 - 52;

  static constexpr Power power(int sum) {
    return sum < 6 ? Power::square : sum < 8 ? Power::value : Power::magnitude;
  }
  static constexpr bool twice(int sum) { return sum == 1 || sum == 2 || sum == 4; }
  __device__ static constexpr int unit(int sum, int exponent) {
    if (sum >= 6) return exponent - (sum % 2 == 0 ? 23 : 70);
    return 2 * exponent - (sum == 0   ? 46
                           : sum == 1 ? 70
                           : sum < 4  ? 91 + sum
                           : sum == 4 ? 117
                                      : 140);
  }

  __device__ static void add(double x, double (&sum)[sums]) {
    const double a = add_rounded(x, sum[6]);
    const double rest = x - a;
    const double b = rounded(rest, in_greater_units(sum[7], 23));
    const double c = rest - b;
    sum[0] = std::fma(a, a, sum[0]);
    sum[1] = std::fma(a, b, sum[1]);
    sum[2] = std::fma(a, c, sum[2]);
    sum[3] = std::fma(b, b, sum[3]);
    sum[4] = std::fma(b, c, sum[4]);
    sum[5] = std::fma(c, c, sum[5]);
    sum[7] += rest;
    if constexpr (Magnitudes) {
      sum[8] += std::fabs(a);
      sum[9] += with_sign_flipped_by(rest, x);
    }
  }
};

/// The same for more binary orders: five slices, the first in units of 2^(E-22) and each further
/// one of 23 bits more, all of up to 2^22 units. Products of slices i and j have units of i + j, of
/// which those with i < j count twice; two pairs have i + j in common at most.
template <bool Magnitudes>
class WideLongSquareSlices {
  static constexpr int slices = 5;
  static constexpr int bits = 23;
  static constexpr int squares = slices + 2 * slices - 3;

 public:
  static constexpr int sums = squares + (Magnitudes ? 6 : 3);
  static constexpr int headroom = 6;
  static constexpr int orders = slices * bits - 1 - 52;

  static constexpr Power power(int sum) {
    return sum < squares ? Power::square : sum < squares + 3 ? Power::value : Power::magnitude;
  }
  static constexpr bool twice(int sum) { return sum >= slices && sum < squares; }
  __device__ static constexpr int unit(int sum, int exponent) {
    const int first = exponent - bits + 1;
    if (sum < slices) return 2 * (first - bits * sum);
    if (sum < squares) return 2 * first - bits * (sum - slices + 1);
    const int part = (sum - squares) % 3;
    return first - bits * (part == 0 ? 1 : part == 1 ? 3 : 4);
  }

  __device__ static void add(double x, double (&sum)[sums]) {
    double slice[slices];
    double left = x;  // by the slices before
#pragma unroll
    for (int i = 0; i + 1 < slices; i += 2) {
      double& of_two = sum[squares + i / 2];
      slice[i] = rounded(left, in_greater_units(of_two, bits));
      left -= slice[i];
      of_two += slice[i];
      slice[i + 1] = add_rounded(left, of_two);
      left -= slice[i + 1];
    }
    slice[slices - 1] = left;
    sum[squares + 2] += left;
#pragma unroll
    for (int i = 0; i < slices; ++i) {
      sum[i] = std::fma(slice[i], slice[i], sum[i]);
#pragma unroll
      for (int j = i + 1; j < slices; ++j) {
        double& product = sum[slices - 1 + i + j];
        product = std::fma(slice[i], slice[j], product);
      }
    }
    if constexpr (Magnitudes) {
      const double part[] = {slice[0] + slice[1], slice[2] + slice[3], left};
#pragma unroll
      for (int i = 0; i < 3; ++i) sum[squares + 3 + i] += with_sign_flipped_by(part[i], x);
    }
  }
};

}  // namespace warpfold::cuda::kernels
