#pragma once

// CUDA C++ for device code, as the host's compiler takes it: included before each .cu file.

#include <cuda_runtime.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <type_traits>

#include "emulator/grid.hpp"

#undef __shared__
#define __shared__ static thread_local
#define __grid_constant__
#define __launch_bounds__(...)
#define __noinline__

#define threadIdx (::warpfold::emulator::place->thread)
#define blockIdx (::warpfold::emulator::place->block)
#define blockDim (::warpfold::emulator::place->threads)
#define gridDim (::warpfold::emulator::place->blocks)

namespace warpfold::emulator {

template <class T>
Met meet(Meeting meeting, unsigned mask, const T& value, void (*finish)(const Met&) = nullptr) {
  static_assert(std::is_trivially_copyable_v<T>);
  return meet(meeting, mask, {&value, sizeof(T), finish});
}

/// Returns what lane `source` brings, the own value where there is no such lane.
template <class T>
T shuffled(unsigned mask, const T& value, unsigned source) {
  const Met met = meet(Meeting::shuffle, mask, value);
  return met.has(source) ? met.values_of<T>()[source] : value;
}

template <class T>
unsigned matching(unsigned mask, const T& value) {
  const Met met = meet(Meeting::match, mask, value);
  unsigned lanes = 0;
  for (unsigned lane = 0; lane < warp_lanes; ++lane)
    if (met.has(lane) && std::memcmp(met.values_of<T>() + lane, &value, sizeof(T)) == 0)
      lanes |= 1u << lane;
  return lanes;
}

/// Returns what Combine makes of the values of all lanes.
template <class Combine>
unsigned combined(unsigned mask, unsigned value, Combine, Meeting meeting = Meeting::reduce) {
  const Met met = meet(meeting, mask, value, [](const Met& all) {
    unsigned* const values = all.values_of<unsigned>();
    const auto first = static_cast<unsigned>(std::countr_zero(all.lanes));
    unsigned result = values[first];
    for (unsigned lane = first + 1; lane < warp_lanes; ++lane)
      if (all.has(lane)) result = Combine{}(result, values[lane]);
    std::fill_n(values, warp_lanes, result);
  });
  return met.values_of<unsigned>()[0];
}

inline unsigned voted(unsigned mask, bool says) {
  return combined(mask, says ? 1u << place->lane() : 0u, std::bit_or<>{}, Meeting::vote);
}

/// Replaces *to by change(*to); returns what it was.
template <class T, class Change>
T changed(T* to, Change change) {
  perhaps_let_lanes_run();
  const T before = *to;
  *to = change(before);
  perhaps_let_lanes_run();
  return before;
}

}  // namespace warpfold::emulator

template <class T>
T __shfl_sync(unsigned mask, const T& value, int source) {
  return warpfold::emulator::shuffled(mask, value, static_cast<unsigned>(source) % 32);
}
template <class T>
T __shfl_up_sync(unsigned mask, const T& value, unsigned delta) {
  return warpfold::emulator::shuffled(mask, value, warpfold::emulator::place->lane() - delta);
}
template <class T>
T __shfl_down_sync(unsigned mask, const T& value, unsigned delta) {
  return warpfold::emulator::shuffled(mask, value, warpfold::emulator::place->lane() + delta);
}
template <class T>
T __shfl_xor_sync(unsigned mask, const T& value, int bits) {
  return warpfold::emulator::shuffled(
      mask, value, warpfold::emulator::place->lane() ^ static_cast<unsigned>(bits));
}

inline unsigned __ballot_sync(unsigned mask, int says) {
  return warpfold::emulator::voted(mask, says != 0);
}
inline int __any_sync(unsigned mask, int says) { return __ballot_sync(mask, says) != 0; }
inline int __all_sync(unsigned mask, int says) { return __ballot_sync(mask, !says) == 0; }

template <class T>
unsigned __match_any_sync(unsigned mask, T value) {
  return warpfold::emulator::matching(mask, value);
}

inline unsigned __reduce_add_sync(unsigned mask, unsigned value) {
  return warpfold::emulator::combined(mask, value, std::plus<>{});
}
inline unsigned __reduce_or_sync(unsigned mask, unsigned value) {
  return warpfold::emulator::combined(mask, value, std::bit_or<>{});
}
inline unsigned __reduce_max_sync(unsigned mask, unsigned value) {
  return warpfold::emulator::combined(mask, value,
                                      [](unsigned a, unsigned b) { return std::max(a, b); });
}

// Functions of src/cuda/primitives/warp.cuh in one meeting, with the same results. They are
// preferred to those, which pass 32 bits at a time.
#ifndef WARPFOLD_EMULATED_WORDS
namespace warpfold::cuda::warp {
inline namespace emulated {

/// Passed in several words.
template <class T>
concept Wide = (sizeof(T) > sizeof(unsigned));

template <Wide T>
T shuffle(const T& value, int source) {
  return __shfl_sync(~0u, value, source);
}
template <Wide T>
T shuffle_up(const T& value, int delta) {
  return __shfl_up_sync(~0u, value, static_cast<unsigned>(delta));
}
template <Wide T>
T shuffle_down(const T& value, int delta) {
  return __shfl_down_sync(~0u, value, static_cast<unsigned>(delta));
}
template <Wide T>
T shuffle_xor(const T& value, int bits) {
  return __shfl_xor_sync(~0u, value, bits);
}

/// Any lane's is as good as another's.
template <class Combine>
concept Stateless = std::is_empty_v<Combine> && std::is_default_constructible_v<Combine>;

template <class T, Stateless Combine>
T inclusive_scan(T value, Combine) {
  const auto scan = [](const emulator::Met& all) {
    T* const values = all.template values_of<T>();
    for (unsigned delta = 1; delta < emulator::warp_lanes; delta *= 2)
      for (unsigned lane = emulator::warp_lanes - 1; lane >= delta; --lane)
        values[lane] = Combine{}(values[lane - delta], values[lane]);
  };
  return emulator::meet(emulator::Meeting::scan, ~0u, value, scan)
      .template values_of<T>()[emulator::place->lane()];
}

}  // namespace emulated
}  // namespace warpfold::cuda::warp
#endif

inline void __syncwarp(unsigned mask = 0xffffffffu) {
  warpfold::emulator::meet(warpfold::emulator::Meeting::synchronize, mask, {});
}
inline void __syncthreads() { warpfold::emulator::wait_at_block_barrier(); }
inline void __barrier_sync(unsigned) { __syncthreads(); }
inline void __threadfence() { warpfold::emulator::perhaps_let_blocks_run(); }
inline void __threadfence_system() { __threadfence(); }
inline std::size_t __cvta_generic_to_shared(const void*) {
  warpfold::emulator::fail("bulk copies are not emulated");
}
inline void __nanosleep(unsigned) {}
[[noreturn]] inline void __trap() { warpfold::emulator::fail("__trap()"); }

template <class T, class U>
T atomicAdd(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T old) { return static_cast<T>(old + value); });
}
template <class T, class U>
T atomicMin(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T old) { return std::min<T>(old, value); });
}
template <class T, class U>
T atomicMax(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T old) { return std::max<T>(old, value); });
}
template <class T, class U>
T atomicOr(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T old) { return static_cast<T>(old | value); });
}
template <class T, class U>
T atomicXor(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T old) { return static_cast<T>(old ^ value); });
}
template <class T, class U>
T atomicExch(T* to, U value) {
  return warpfold::emulator::changed(to, [&](T) { return static_cast<T>(value); });
}
template <class T, class U, class V>
T atomicCAS(T* to, U expected, V value) {
  return warpfold::emulator::changed(
      to, [&](T old) { return old == static_cast<T>(expected) ? static_cast<T>(value) : old; });
}
inline unsigned atomicInc(unsigned* to, unsigned last) {
  return warpfold::emulator::changed(to, [&](unsigned old) { return old >= last ? 0 : old + 1; });
}

template <class T>
T __ldg(const T* from) {
  return *from;
}
template <class T>
T __ldcs(const T* from) {
  return *from;
}
template <class T>
T __ldcg(const T* from) {
  return *from;
}
template <class T>
void __stcg(T* to, T value) {
  *to = value;
}

inline int __float_as_int(float value) { return std::bit_cast<int>(value); }
inline long long __double_as_longlong(double value) { return std::bit_cast<long long>(value); }
inline double __longlong_as_double(long long value) { return std::bit_cast<double>(value); }

inline int __popc(unsigned value) { return std::popcount(value); }
inline int __clzll(long long value) {
  return std::countl_zero(static_cast<unsigned long long>(value));
}
inline int __ffs(int value) {
  return value == 0 ? 0 : std::countr_zero(static_cast<unsigned>(value)) + 1;
}
inline unsigned __brev(unsigned value) {
  unsigned reversed = 0;
  for (int bit = 0; bit < 32; ++bit) reversed |= (value >> bit & 1u) << (31 - bit);
  return reversed;
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) >> (shift & 31));
}
inline unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) {
  return static_cast<unsigned>((std::uint64_t{high} << 32 | low) << (shift & 31) >> 32);
}
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{high} << 32 | low;
  unsigned result = 0;
  for (int i = 0; i < 4; ++i) {
    const unsigned nibble = selector >> 4 * i & 15;
    auto byte = static_cast<std::uint8_t>(bytes >> 8 * (nibble & 7));
    if ((nibble & 8) != 0) byte = (byte & 0x80) != 0 ? 0xff : 0;
    result |= unsigned{byte} << 8 * i;
  }
  return result;
}
inline std::uint64_t __umul64hi(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>(static_cast<unsigned __int128>(a) * b >> 64);
}

namespace warpfold::emulator {

/// Adds up multiply(part of a, part of b) for parts of `Bits` bits; A and B are their types.
template <class A, class B, int ABits, int BBits>
std::int64_t dot(unsigned a, unsigned b, int parts) {
  std::int64_t sum = 0;
  for (int i = 0; i < parts; ++i)
    sum += std::int64_t{static_cast<A>(a >> ABits * i)} * static_cast<B>(b >> BBits * i);
  return sum;
}

template <class Half, class Combine>
unsigned by_halves(unsigned a, unsigned b, Combine combine) {
  unsigned result = 0;
  for (int i = 0; i < 2; ++i) {
    const Half half = combine(static_cast<Half>(a >> 16 * i), static_cast<Half>(b >> 16 * i));
    result |= unsigned{static_cast<std::uint16_t>(half)} << 16 * i;
  }
  return result;
}

}  // namespace warpfold::emulator

inline int __dp4a(int a, int b, int sum) {
  using warpfold::emulator::dot;
  return static_cast<int>(sum + dot<std::int8_t, std::int8_t, 8, 8>(static_cast<unsigned>(a),
                                                                    static_cast<unsigned>(b), 4));
}
inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum) {
  return static_cast<unsigned>(sum +
                               warpfold::emulator::dot<std::uint8_t, std::uint8_t, 8, 8>(a, b, 4));
}
inline int __dp2a_lo(int a, int b, int sum) {
  using warpfold::emulator::dot;
  return static_cast<int>(sum + dot<std::int16_t, std::int8_t, 16, 8>(static_cast<unsigned>(a),
                                                                      static_cast<unsigned>(b), 2));
}
inline unsigned __dp2a_lo(unsigned a, unsigned b, unsigned sum) {
  return static_cast<unsigned>(
      sum + warpfold::emulator::dot<std::uint16_t, std::uint8_t, 16, 8>(a, b, 2));
}
inline unsigned __vmaxu2(unsigned a, unsigned b) {
  return warpfold::emulator::by_halves<std::uint16_t>(
      a, b, [](std::uint16_t x, std::uint16_t y) { return std::max(x, y); });
}
inline unsigned __vminu2(unsigned a, unsigned b) {
  return warpfold::emulator::by_halves<std::uint16_t>(
      a, b, [](std::uint16_t x, std::uint16_t y) { return std::min(x, y); });
}
inline unsigned __vmins2(unsigned a, unsigned b) {
  return warpfold::emulator::by_halves<std::int16_t>(
      a, b, [](std::int16_t x, std::int16_t y) { return std::min(x, y); });
}

namespace warpfold::emulator {

/// Returns how far a + b lies above (negative: below) its nearest double.
inline double lost_by_adding(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}

}  // namespace warpfold::emulator

inline double __dadd_ru(double a, double b) {
  const double sum = a + b;
  return warpfold::emulator::lost_by_adding(a, b) > 0.0 ? std::nextafter(sum, HUGE_VAL) : sum;
}
inline double __dadd_rd(double a, double b) {
  if (a == -b && (a != 0.0 || std::signbit(a) != std::signbit(b))) return -0.0;
  const double sum = a + b;
  return warpfold::emulator::lost_by_adding(a, b) < 0.0 ? std::nextafter(sum, -HUGE_VAL) : sum;
}

inline double __fma_rn(double a, double b, double c) { return std::fma(a, b, c); }

inline double __hiloint2double(int high, int low) {
  return std::bit_cast<double>(std::uint64_t{static_cast<unsigned>(high)} << 32 |
                               static_cast<unsigned>(low));
}
inline int __double2hiint(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value) >> 32);
}
inline int __double2loint(double value) {
  return static_cast<int>(std::bit_cast<std::uint64_t>(value));
}

using std::max;
using std::min;

// The runtime takes kernels by their type, too.

template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, Kernel* kernel) {
  return cudaFuncGetAttributes(attributes, reinterpret_cast<const void*>(kernel));
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel), attribute, value);
}
