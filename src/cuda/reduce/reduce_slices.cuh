#pragma once

#include <cmath>
#include <cstdint>

#include "cuda/primitives/comparable.cuh"

namespace warpfold::cuda::kernels {

/// Sums of doubles that do not round.
///
/// In a window of exponent E lie zero and magnitudes from 2^(E - orders) up to, excluding, 2^E:
/// multiples of some unit 2^(E - bits). An element is split into slices, sums of which are far from
/// the 53 bits of a double: adding 1.5 * 2^52 u to a number and taking it away again rounds it to a
/// multiple of u, and what that leaves is exact and at most u/2 in magnitude. (S. M. Rump, T.
/// Ogita, S. Oishi, Accurate floating-point summation, SIAM J. Sci. Comput. 31, 2008.)
///
/// A slice's sum takes 2^headroom elements up to 2^51 of its units: with 1.5 * 2^52 u added it
/// counts these in its lower bits.
inline constexpr int slice_sum_bits = 51;

/// 1.5 * 2^exponent, a normal double.
__device__ inline double one_and_a_half(int exponent) {
  return __hiloint2double(((exponent + 1023) << 20) | 0x80000, 0);
}

/// Adding and subtracting it rounds to multiples of 2^exponent.
__device__ inline double rounding_to(int exponent) { return one_and_a_half(exponent + 52); }

enum class Power : std::uint8_t { value, magnitude, square };

/// Elements as they are, in `Slices` parts: the first of `width` = 51 - headroom bits, each further
/// one a bit longer, as it comes with half a unit on either side.
template <int Slices, int Headroom, int SignificandBits>
class ValueSlices {
  static constexpr int width = slice_sum_bits - Headroom;

 public:
  static constexpr int sums = Slices;
  static constexpr int headroom = Headroom;
  static constexpr int orders = Slices * (width + 1) - 1 - (SignificandBits - 1);

  static constexpr Power power(int) { return Power::value; }
  static constexpr bool twice(int) { return false; }
  __device__ static constexpr int unit(int sum, int exponent) {
    return exponent - width - sum * (width + 1);
  }

  __device__ void open(int exponent) {
#pragma unroll
    for (int i = 0; i + 1 < Slices; ++i) rounding_[i] = rounding_to(unit(i, exponent));
  }

  __device__ void add(double x, double (&sum)[Slices]) const {
#pragma unroll
    for (int i = 0; i + 1 < Slices; ++i) {
      const double slice = (x + rounding_[i]) - rounding_[i];
      sum[i] += slice;
      x -= slice;
    }
    sum[Slices - 1] += x;
  }

 private:
  double rounding_[Slices == 1 ? 1 : static_cast<std::size_t>(Slices - 1)];
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

  __device__ void open(int exponent) { rounding_ = rounding_to(unit(0, exponent)); }

  __device__ void add(double x, double (&sum)[sums]) const {
    const double a = std::fma(x, x, rounding_) - rounding_;
    sum[0] += a;
    sum[1] += std::fma(x, x, -a);
    sum[2] += x;
    if constexpr (Magnitudes) sum[3] += std::fabs(x);
  }

 private:
  double rounding_;
};

/// The same for more binary orders: squares, of 48 bits at most, in four slices, the first in units
/// of 2^(2E-44) and each further one of 46 bits more; elements in two of 45 and 46 bits.
template <int SignificandBits, bool Magnitudes>
class WideShortSquareSlices {
 public:
  static constexpr int sums = Magnitudes ? 8 : 6;
  static constexpr int headroom = 6;
  static constexpr int orders = 91 - (SignificandBits - 1);
  static_assert(2 * SignificandBits <= 48);

  static constexpr Power power(int sum) {
    return sum < 4 ? Power::square : sum < 6 ? Power::value : Power::magnitude;
  }
  static constexpr bool twice(int) { return false; }
  __device__ static constexpr int unit(int sum, int exponent) {
    return sum < 4 ? 2 * exponent - 44 - 46 * sum : exponent - 45 - 46 * (sum % 2);
  }

  __device__ void open(int exponent) {
    for (int i = 0; i < 3; ++i) square_rounding_[i] = rounding_to(unit(i, exponent));
    rounding_ = rounding_to(unit(4, exponent));
  }

  __device__ void add(double x, double (&sum)[sums]) const {
    const double first = std::fma(x, x, square_rounding_[0]) - square_rounding_[0];
    sum[0] += first;
    double left = std::fma(x, x, -first);
#pragma unroll
    for (int i = 1; i < 3; ++i) {
      const double slice = (left + square_rounding_[i]) - square_rounding_[i];
      sum[i] += slice;
      left -= slice;
    }
    sum[3] += left;
    const double high = (x + rounding_) - rounding_;
    sum[4] += high;
    sum[5] += x - high;
    if constexpr (Magnitudes) {
      sum[6] += std::fabs(high);
      sum[7] += with_sign_flipped_by(x - high, x);
    }
  }

 private:
  double square_rounding_[3];
  double rounding_;
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

  __device__ void open(int exponent) {
    a_rounding_ = rounding_to(exponent - 23);
    b_rounding_ = rounding_to(exponent - 47);
  }

  __device__ void add(double x, double (&sum)[sums]) const {
    const double a = (x + a_rounding_) - a_rounding_;
    const double rest = x - a;
    const double b = (rest + b_rounding_) - b_rounding_;
    const double c = rest - b;
    sum[0] = std::fma(a, a, sum[0]);
    sum[1] = std::fma(a, b, sum[1]);
    sum[2] = std::fma(a, c, sum[2]);
    sum[3] = std::fma(b, b, sum[3]);
    sum[4] = std::fma(b, c, sum[4]);
    sum[5] = std::fma(c, c, sum[5]);
    sum[6] += a;
    sum[7] += rest;
    if constexpr (Magnitudes) {
      sum[8] += std::fabs(a);
      sum[9] += with_sign_flipped_by(rest, x);
    }
  }

 private:
  double a_rounding_;
  double b_rounding_;
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

  __device__ void open(int exponent) {
#pragma unroll
    for (int i = 0; i + 1 < slices; ++i) rounding_[i] = rounding_to(exponent - bits + 1 - bits * i);
  }

  __device__ void add(double x, double (&sum)[sums]) const {
    double slice[slices];
    double left[slices];  // by the slices before
    left[0] = x;
#pragma unroll
    for (int i = 0; i + 1 < slices; ++i) {
      slice[i] = (left[i] + rounding_[i]) - rounding_[i];
      left[i + 1] = left[i] - slice[i];
    }
    slice[slices - 1] = left[slices - 1];
#pragma unroll
    for (int i = 0; i < slices; ++i) {
      sum[i] = std::fma(slice[i], slice[i], sum[i]);
#pragma unroll
      for (int j = i + 1; j < slices; ++j) {
        double& product = sum[slices - 1 + i + j];
        product = std::fma(slice[i], slice[j], product);
      }
    }
    const double part[] = {x - left[2], left[2] - left[4], left[4]};
#pragma unroll
    for (int i = 0; i < 3; ++i) {
      sum[squares + i] += part[i];
      if constexpr (Magnitudes) sum[squares + 3 + i] += with_sign_flipped_by(part[i], x);
    }
  }

 private:
  double rounding_[slices - 1];
};

}  // namespace warpfold::cuda::kernels
