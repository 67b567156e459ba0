#pragma once

#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "cuda/primitives/digit_number.hpp"
#include "cuda/primitives/warp.cuh"

/// Prefix sums of exact numbers, one of each thread of a block, digit by digit: a column holds one
/// digit of all of them.
namespace warpfold::cuda::kernels {

inline constexpr int column_threads = 128;
inline constexpr int column_warps = column_threads / warp::lanes;

/// In shared memory.
struct DigitColumns {
  std::int64_t base[ExactSum::limbs];   ///< before the first thread's number
  std::int64_t total[ExactSum::limbs];  ///< of all threads' numbers
  std::int64_t warp_total[2][column_warps];
  std::uint32_t digit[ExactSum::limbs + 1][column_threads];  ///< of limb `first` and those above
  int first;                                                 ///< limbs from here on
  int end;                                                   ///< up to here may be other than zero

  __device__ int count() const { return end - first; }

  /// Returns this thread's number of `count() + 1` digits, in two's complement.
  __device__ DigitNumber number() const {
    int lowest = 0;
    while (lowest <= count() && digit[lowest][threadIdx.x] == 0) ++lowest;
    return DigitNumber(&digit[0][threadIdx.x], column_threads, first, count() + 1, lowest);
  }
};

/// Finds the limbs that may be other than zero: this thread's from `first` up to `end`, if any, and
/// those of the base. By all threads.
__device__ inline void find_columns(DigitColumns& columns, int first, int end) {
  if (threadIdx.x == 0) {
    columns.first = ExactSum::limbs;
    columns.end = 0;
  }
  __syncthreads();
  if (end > first) {
    atomicMin(&columns.first, first);
    atomicMax(&columns.end, end);
  }
  for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += column_threads) {
    if (columns.base[i] == 0) continue;
    atomicMin(&columns.first, i);
    atomicMax(&columns.end, i + 1);
  }
  __syncthreads();
  if (threadIdx.x == 0) columns.first = min(columns.first, columns.end);
  __syncthreads();
}

/// Returns the sum of a column's limbs in the threads before this one.
__device__ inline std::int64_t column_prefix(DigitColumns& columns, int column, std::int64_t own) {
  std::int64_t(&warp_total)[column_warps] = columns.warp_total[column % 2];
  const std::int64_t inclusive =
      warp::inclusive_scan(own, [](std::int64_t a, std::int64_t b) { return a + b; });
  if (warp::lane() == warp::lanes - 1) warp_total[warp::index()] = inclusive;
  __syncthreads();
  std::int64_t prefix = inclusive - own;
  std::int64_t total = 0;
#pragma unroll
  for (int i = 0; i < column_warps; ++i) {
    if (i < warp::index()) prefix += warp_total[i];
    total += warp_total[i];
  }
  if (threadIdx.x == 0) columns.total[column] = total;
  return prefix;
}

/// Makes the digits those of the base and of the numbers of the threads before this one; `limb(i)`
/// returns limb `first + i` of this thread's, for i up to `count()`. Limbs stay below 2^63: 2^29
/// tiles of less than 2^33, what is before a block, a carry. By all threads.
template <class Limb>
__device__ DigitNumber digit_prefix(DigitColumns& columns, Limb limb) {
  const int count = columns.count();
  std::int64_t carry = 0;
  std::int64_t next = limb(0);
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const std::int64_t own = next;
    next = limb(i + 1);
    const int column = columns.first + i;
    carry += columns.base[column] + column_prefix(columns, column, own);
    columns.digit[i][threadIdx.x] = static_cast<std::uint32_t>(carry);
    carry >>= 32;
  }
  columns.digit[count][threadIdx.x] = static_cast<std::uint32_t>(carry);
  return columns.number();
}

}  // namespace warpfold::cuda::kernels
