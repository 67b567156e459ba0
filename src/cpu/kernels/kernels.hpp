#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "warpfold/core/double_pair.hpp"
#include "warpfold/core/int128.hpp"

/// The inner loops of the host backend, compiled once for every instruction set of the build.
///
/// A kernel sees one block: at most block_elements elements of native byte order that lie in a
/// cache of the core. What it does to them is exact, or it says that it was not.
namespace warpfold::cpu {

inline constexpr std::size_t block_elements = std::size_t{1} << 14;

/// The most extraction levels a kernel offers; level count 0 is a plain sum.
inline constexpr int max_levels = 4;

/// What is summed of each element x.
enum class Term : std::uint8_t {
  value,
  magnitude,
  square,       ///< x * x rounded: exact for elements of 32 bits
  square_error  ///< x * x - round(x * x)
};
inline constexpr int term_count = 4;

/// A block's sum by error-free extraction, or the reasons why it failed.
///
/// Extraction keeps, in every lane, an accumulator in [2^E, 2^(E+1)] for each level. Adding a term
/// rounds it to a multiple of the accumulator's unit 2^(E-52); the part rounded off, found without
/// error (Dekker's Fast2Sum), goes on to the next level's accumulator, of exponent
/// E - 53 + headroom (at least -1022, where the unit is the smallest number there is). With every
/// |term| <= 2^(E-headroom) no accumulator leaves its interval, so its bits count units. What the
/// last level rounds off is summed plainly where the inexact flag can watch that sum alone (level
/// count 0, and everywhere with AVX-512, whose instructions can leave the flag alone); elsewhere it
/// must be zero.
struct Extraction {
  std::int64_t units[max_levels];  ///< of 2^(exponent of the level - 52)
  double plain;                    ///< what the levels left behind, summed plainly
  double largest;                  ///< of the terms' magnitudes, NaN left out
  bool in_range;                   ///< no accumulator left its interval
  bool complete;                   ///< nothing was left behind unsummed
};

/// The number of elements of each non-finite kind.
struct SpecialCounts {
  std::int64_t nan;
  std::int64_t positive_infinities;
  std::int64_t negative_infinities;

  bool any() const { return (nan | positive_infinities | negative_infinities) != 0; }
};

template <class T>
struct MinMax {
  T minimum;
  T maximum;
};

/// Squares' sum: low + middle * 2^33 + high * 2^64.
struct SquareSums {
  uint128 low;
  uint128 middle;
  uint128 high;
};

template <class T>
struct IntegerKernels {
  int128 (*sum)(const T* x, std::size_t n);
  uint128 (*absolute)(const T* x, std::size_t n);
  SquareSums (*squares)(const T* x, std::size_t n);
  MinMax<T> (*extrema)(const T* x, std::size_t n);          ///< of at least one element
  std::size_t (*find)(const T* x, std::size_t n, T value);  ///< n if it is nowhere
};

template <class T>
struct FloatKernels {
  using Extract = Extraction (*)(const T* x, std::size_t n, int exponent);

  /// [term][levels]; null where a term is always zero. An inexact `plain` raises FE_INEXACT.
  Extract extract[term_count][max_levels + 1];

  /// Of the elements but NaN; infinity and -infinity where there is none.
  MinMax<T> (*extrema)(const T* x, std::size_t n);

  /// Index of the first element that compares equal to `value`; n if there is none.
  std::size_t (*find)(const T* x, std::size_t n, T value);

  /// Copies the block with 0 in place of non-finite elements.
  SpecialCounts (*sanitize)(const T* x, std::size_t n, T* finite);

  /// Copies the block with 0 in place of elements whose square or its error might not be exact:
  /// |x| outside [2^-480, 2^500]. Returns how many there are.
  std::size_t (*drop_unsquarable)(const T* x, std::size_t n, T* squarable);

  /// The rounded prefixes of one tile, all of its elements finite, in the order of
  /// scan_arithmetic.hpp, sums in pairs or in plain double; still to be scaled back by the caller.
  void (*scan_pairs)(const T* tile, double down, DoublePair base, bool exclusive, double* prefixes);
  void (*scan_doubles)(const T* tile, double down, DoublePair base, bool exclusive,
                       double* prefixes);
};

/// One instruction set's kernels.
struct Kernels {
  const char* name;
  int headroom;       ///< of Extraction
  bool plain_behind;  ///< what the last level leaves behind is summed plainly

  IntegerKernels<std::int8_t> i8;
  IntegerKernels<std::int16_t> i16;
  IntegerKernels<std::int32_t> i32;
  IntegerKernels<std::int64_t> i64;
  IntegerKernels<std::uint8_t> u8;
  IntegerKernels<std::uint16_t> u16;
  IntegerKernels<std::uint32_t> u32;
  IntegerKernels<std::uint64_t> u64;
  FloatKernels<float> f32;
  FloatKernels<double> f64;

  void (*swap16)(const std::uint16_t* from, std::size_t n, std::uint16_t* to);
  void (*swap32)(const std::uint32_t* from, std::size_t n, std::uint32_t* to);
  void (*swap64)(const std::uint64_t* from, std::size_t n, std::uint64_t* to);
  /// Elements whose bytes lie in planes: the first bytes of all, `plane_bytes` behind it the second
  /// ones, ...
  void (*unshuffle16)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint16_t* to);
  void (*unshuffle32)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint32_t* to);
  void (*unshuffle64)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint64_t* to);
  void (*widen_f16)(const std::uint16_t* from, std::size_t n, float* to);
  void (*widen_bf16)(const std::uint16_t* from, std::size_t n, float* to);
};

/// The kernels of every instruction set that the running machine has, the widest first.
const std::vector<const Kernels*>& available_kernels();

template <class T>
const auto& kernels_of(const Kernels& kernels) {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    return kernels.i8;
  } else if constexpr (std::is_same_v<T, std::int16_t>) {
    return kernels.i16;
  } else if constexpr (std::is_same_v<T, std::int32_t>) {
    return kernels.i32;
  } else if constexpr (std::is_same_v<T, std::int64_t>) {
    return kernels.i64;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return kernels.u8;
  } else if constexpr (std::is_same_v<T, std::uint16_t>) {
    return kernels.u16;
  } else if constexpr (std::is_same_v<T, std::uint32_t>) {
    return kernels.u32;
  } else if constexpr (std::is_same_v<T, std::uint64_t>) {
    return kernels.u64;
  } else if constexpr (std::is_same_v<T, float>) {
    return kernels.f32;
  } else {
    static_assert(std::is_same_v<T, double>);
    return kernels.f64;
  }
}

}  // namespace warpfold::cpu
