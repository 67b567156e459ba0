#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "core/numeric/double_pair.hpp"
#include "core/numeric/exact_product.hpp"
#include "core/values/byte_order.hpp"
#include "cpu/kernels/tile_arithmetic.hpp"
#include "warpfold/core/int128.hpp"

/// The inner loops of the host backend, compiled once for every instruction set of the build.
///
/// A kernel sees one block: at most block_elements elements of native byte order that lie in a
/// cache of the core. What it does to them is exact, or it says that it was not.
namespace warpfold::cpu {

inline constexpr std::size_t block_elements = std::size_t{1} << 14;

/// The most extraction levels a kernel offers; level count 0 is a plain sum.
inline constexpr int max_levels = 4;

/// The term of each element x that is summed.
enum class Term : std::uint8_t {
  value,
  magnitude,
  square,       ///< x * x rounded: exact for elements of 32 bits
  square_error  ///< x * x - round(x * x)
};
inline constexpr int term_count = 4;
inline constexpr int column_terms = 3;  ///< all but the last

/// A block's sum by error-free extraction, or the reasons why it failed.
///
/// Extraction keeps, in every element of a vector, an accumulator in [2^E, 2^(E+1)] for each level.
/// Adding a term rounds it to a multiple of the accumulator's unit 2^(E-52); the part rounded off,
/// found without error (Dekker's Fast2Sum), goes on to the next level's accumulator, of exponent E
/// - 53 + headroom (at least -1022, where the unit is the smallest number there is). With every
/// |term| <= 2^(E-headroom) no accumulator leaves its interval, so its bits count units. What the
/// last level rounds off is summed plainly where the inexact flag can watch that sum alone (level
/// count 0, and everywhere with AVX-512, whose instructions can leave the flag alone); elsewhere it
/// must be zero.
struct Extraction {
  std::int64_t units[max_levels];  ///< in units of 2^(exponent of the level - 52)
  double plain;                    ///< plain sum of the remainders of the levels
  double largest;                  ///< largest of the terms' magnitudes, without NaN
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

/// Most columns that the kernels for columns take at a time, and most rows.
inline constexpr std::size_t column_tile = 512;
inline constexpr std::size_t row_tile = 128;

/// The parts of an Expansion.
inline constexpr int expansion_parts = 4;

/// The sums of a matrix's columns, of up to row_tile rows, `stride` elements from one to the next:
/// that of column c is the sum of sums[l * column_tile + c] over the levels l, of which integers
/// have integer_levels. Those of columns up to the next vector's end are 0.
template <class T>
using IntegerColumnSums = void (*)(const T* x, std::size_t rows, std::size_t stride,
                                   std::size_t columns, double* sums);
template <class T>
inline constexpr int integer_levels = sizeof(T) < sizeof(double) ? 1 : 2;

/// The sums of a matrix's columns, as IntegerColumnSums gives them, of at least one row of floats.
/// Returns false where sums are not exact, or one is no
/// addend (is_addend()); with a single level, and where the last one is summed plainly
/// (Kernels::plain_behind), the inexact flag tells what is not exact.
template <class T>
using ColumnSums = bool (*)(const T* x, std::size_t rows, std::size_t stride, std::size_t columns,
                            double* sums);

/// The sums, as ColumnSums gives them, of `lines` lines of `n` elements that begin `stride`
/// elements apart: that of line i is the sum of sums[l * column_tile + i]. At most column_tile
/// lines.
template <class T>
using LineSums = bool (*)(const T* x, std::size_t lines, std::size_t stride, std::size_t n,
                          double* sums);

/// Factors of a matrix's elements: those of row r begin r * stride behind the first one.
struct FactorRows {
  const double* first = nullptr;
  std::ptrdiff_t stride = 0;
};

/// Magnitudes of factors, and of values but 0, whose products are exact as two doubles.
inline constexpr double least_usual_factor = 0x1p-400;
inline constexpr double largest_usual_factor = 0x1p400;
inline constexpr double least_usual_value = 0x1p-480;
inline constexpr double largest_usual_value = 0x1p500;

/// The sums of the products of elements and factors, as ColumnSums and LineSums give them. Returns
/// false likewise, and where an element is not finite, or a factor or a double not of usual size.
template <class T>
using ProductSums = bool (*)(const T* x, std::size_t rows, std::size_t stride, std::size_t columns,
                             const FactorRows& factors, double* sums);

/// Lowers `minimum` and raises `maximum` to the columns' extrema, NaN left out.
template <class T>
using ColumnExtrema = void (*)(const T* x, std::size_t rows, std::size_t stride,
                               std::size_t columns, T* minimum, T* maximum);

/// The type that elements of type T are compared in: double if that is exact.
template <class T>
using Limit = std::conditional_t<std::is_integral_v<T> && sizeof(T) == 8, T, double>;

/// Ranges of 2^shift values that follow each other, by their dense_key(): `count` of them.
struct KeyCells {
  std::uint64_t first;  ///< value
  std::uint32_t shift;
  std::uint32_t count;  ///< 0 where cells are of equal width
};

/// The most of a tolerance, so that an element's nearest limit is the only one that it can be near.
inline constexpr double max_tolerance = 0.125;

/// Limits between regions of numbers, found by cells of equal width, or of equally many values: an
/// element's cell, computed with rounding that keeps the order, tells all but the limits in that
/// very cell.
template <class L>
struct BinTable {
  double origin;
  double scale;  ///< cells in a unit; 0 where one cell is all there is
  double last_cell;
  const L* limits;              ///< rising, `count` of them
  const std::uint32_t* passed;  ///< number of limits in lower cells, for each cell and the end
  std::uint32_t count;
  std::uint32_t max_in_cell;
  KeyCells by_key;
  bool starts_cells;  ///< each limit is the first value of a cell by_key, and every cell has one
  bool starts_even_cells;  ///< limit i lies within `tolerance` cells of where cell i begins
  double tolerance;
  bool tells_places;    ///< an element's place tells its region, but at limit `pivot` and the last
  std::uint32_t pivot;  ///< limit
};

/// Writes for each element how many of the table's limits it is not less than; for NaN, one more
/// than there are.
template <class T>
using FindRegions = void (*)(const T* x, std::size_t n, const BinTable<Limit<T>>& table,
                             std::uint32_t* regions);

/// How many of an array of regions were the first and the last one.
struct OuterRegions {
  std::size_t below;
  std::size_t above;
};

/// Inputs of a tile's prefixes other than its elements (tile_arithmetic.hpp).
struct TileTerms {
  double bias[TileSlices::count];  ///< biases of the slices that hold the elements
  DoublePair base;                 ///< sum before the tile, rounded
  double error;                    ///< bounds what a prefix may be off by
};

struct TileOutcome {
  bool certain;  ///< whether all prefixes are right if the error is
  SliceUse use;
  double slice_sum[TileSlices::count];  ///< exact sums of the tile
};

template <class T>
using TileScan = TileOutcome (*)(const T* tile, const TileTerms& terms, bool exclusive,
                                 double* prefixes);

/// Running sums of lines, an unevaluated sum of two doubles each, as a DoublePair is.
struct LinePairs {
  double* high;
  double* low;
};

/// Adds an element to each of `n` lines, and writes their sums with it (`exclusive`: without it),
/// rounded to the nearest double or to an odd one. Stops before a vector of lines of which some
/// sum is not exact in two doubles, and before less than a vector; returns how many it has done.
template <class T>
using AddToLines = std::size_t (*)(const T* x, std::size_t n, LinePairs lines, bool exclusive,
                                   bool to_odd, double* prefixes);

/// Numbers of T's width, or 32 bits, in the order of T's values, of which -0.0 and 0.0 are one.
template <class T>
using NativeKey = std::conditional_t<sizeof(T) <= 4, std::uint32_t, std::uint64_t>;

inline constexpr int max_excluded_keys = 8;

/// Selects keys: minimum, minimum + 1, ... minimum + span, counted modulo 2^32 or 2^64, without the
/// excluded ones, the first of which fills up the array; of NaN all or none.
template <class Key>
struct KeyFilter {
  Key minimum = 0;
  Key span = ~Key{0};
  Key excluded[max_excluded_keys] = {};
  int excluded_count = 0;
  bool nan = true;
};

/// A bitmap marks the elements of a block that count: element i has bit i % word_bits of word
/// i / word_bits. Unused bits of the last word are 0.
inline constexpr std::size_t word_bits = 64;

constexpr std::size_t words_of(std::size_t elements) {
  return (elements + word_bits - 1) / word_bits;
}

/// Sets the bits of those of `n` <= block_elements elements that are selected; returns how many
/// are.
template <class T>
using SelectValues = std::size_t (*)(const T* x, std::size_t n,
                                     const KeyFilter<NativeKey<T>>& filter, std::uint64_t* counts);

/// An Unpacking whose product and sum are of floats.
struct UnpackTerms {
  double scale;
  double offset;
  bool product_is_f32;
};

template <class T, class Value>
using UnpackValues = void (*)(const T* x, std::size_t n, const UnpackTerms& terms, Value* values);

template <class T>
struct DecodingKernels {
  SelectValues<T> select;
  UnpackValues<T, float> unpack_f32;
  UnpackValues<T, double> unpack_f64;

  /// Copies those elements that count, one behind another; there is room for n.
  void (*pack)(const T* x, std::size_t n, const std::uint64_t* counts, T* values);

  /// Copies elements, `left_out` in place of those that don't count, NaN canonical.
  void (*replace)(const T* x, std::size_t n, const std::uint64_t* counts, T left_out, T* values);
};

template <class T>
struct IntegerKernels {
  int128 (*sum)(const T* x, std::size_t n);
  uint128 (*absolute)(const T* x, std::size_t n);
  SquareSums (*squares)(const T* x, std::size_t n);
  MinMax<T> (*extrema)(const T* x, std::size_t n);          ///< takes at least one element
  std::size_t (*find)(const T* x, std::size_t n, T value);  ///< n if it is nowhere

  /// For any number of elements: count_below() counts those less than `bound`; least_from() returns
  /// the least one that is not, or the type's greatest number if there is none.
  std::size_t (*count_below)(const T* x, std::size_t n, T bound);
  T (*least_from)(const T* x, std::size_t n, T bound);
  IntegerColumnSums<T> column_sums;
  IntegerColumnSums<T> column_magnitudes;
  ColumnExtrema<T> column_extrema;
  FindRegions<T> find_regions;
  DecodingKernels<T> decoding;
};

/// Properties of products of doubles. They are inexact if numbers are too large, too small or not
/// finite; there is no rest if all are exact doubles.
struct ProductKinds {
  bool inexact;
  bool rest;
};

/// How elements are multiplied by factors: those that have the mark of their type are left out, if
/// any have it, those whose factor is the left_out_mark, and those that weigh nothing.
struct Multiplying {
  bool marked;
  bool by_weights;
};

/// Arrays that extend to the next multiple of 8 elements: factors, and what elements and factors
/// make. The products are high + low: the left_out_mark where elements are left out, and no rest of
/// what is not finite. The factors of those that are left out or NaN become 0.
struct ProductTerms {
  double* high;
  double* low;
  double* factors;
};

/// Multiplies floats by factors; tells of finite ones.
template <class T>
using MultiplyFloats = ProductKinds (*)(const T* x, std::size_t n, Multiplying how,
                                        const ProductTerms& terms);

template <class T>
struct FloatKernels {
  using Extract = Extraction (*)(const T* x, std::size_t n, int exponent);

  /// [term][levels]; null where a term is always zero. An inexact `plain` raises FE_INEXACT.
  Extract extract[term_count][max_levels + 1];

  /// Finds the extrema of the elements but NaN; infinity and -infinity where there is none.
  MinMax<T> (*extrema)(const T* x, std::size_t n);

  /// Finds the index of the first element that compares equal to `value`; n if there is none.
  std::size_t (*find)(const T* x, std::size_t n, T value);

  /// Copies the block with 0 in place of non-finite elements.
  SpecialCounts (*sanitize)(const T* x, std::size_t n, T* finite);

  /// Copies the block with 0 in place of elements whose square or its error might not be exact:
  /// |x| outside [2^-480, 2^500]. Returns how many there are.
  std::size_t (*drop_unsquarable)(const T* x, std::size_t n, T* squarable);

  /// Compute the prefixes of a tile, all of its elements finite and short of huge, to the nearest
  /// double or to an odd one.
  TileScan<T> scan_to_nearest;
  TileScan<T> scan_to_odd;

  /// [term][levels - 1]; squares of doubles come with their errors.
  ColumnSums<T> column_sums[column_terms][max_levels];
  LineSums<T> line_sums[column_terms][max_levels];
  ColumnExtrema<T> column_extrema;

  /// Returns whether a matrix's elements are finite.
  bool (*all_finite)(const T* x, std::size_t rows, std::size_t stride, std::size_t columns);
  FindRegions<T> find_regions;
  AddToLines<T> add_to_lines;
  MultiplyFloats<T> multiply;

  /// [one factor for all of a row, not one for each element][levels - 1]; lines have one for each.
  ProductSums<T> column_products[2][max_levels];
  ProductSums<T> line_products[max_levels];
  DecodingKernels<T> decoding;
};

/// One instruction set's kernels.
struct Kernels {
  const char* name;
  int headroom;       ///< headroom of Extraction
  bool plain_behind;  ///< remainders of the last level are summed plainly

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

  /// Adds the sums of n <= column_tile columns, of `levels` as ColumnSums gives them, to as many
  /// expansions, whose parts lie in an array each. Returns how many of these it changed, or
  /// expansion_parts + 1 where some had no room for all; what they had none for is left at `sums`.
  /// All arrays extend to the next multiple of 8 elements.
  int (*add_columns)(double* sums, std::size_t n, int levels,
                     double* const (&parts)[expansion_parts]);

  /// Counts the bits that are set.
  std::size_t (*count_bits)(const std::uint64_t* words, std::size_t n);

  /// Computes x * y = high + low; all arrays extend to the next multiple of 8 elements.
  ProductKinds (*products)(const double* x, const double* y, std::size_t n, double* high,
                           double* low);

  /// Moves the regions other than 0 and `last` to the front, in order.
  OuterRegions (*drop_outer)(std::uint32_t* regions, std::size_t n, std::uint32_t last);

  void (*swap16)(const std::uint16_t* from, std::size_t n, std::uint16_t* to);
  void (*swap32)(const std::uint32_t* from, std::size_t n, std::uint32_t* to);
  void (*swap64)(const std::uint64_t* from, std::size_t n, std::uint64_t* to);
  /// Joins elements whose bytes lie in planes: the first bytes of all, `plane_bytes` behind it the
  /// second ones, ...
  void (*unshuffle16)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint16_t* to);
  void (*unshuffle32)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint32_t* to);
  void (*unshuffle64)(const std::uint8_t* planes, std::size_t plane_bytes, std::size_t n,
                      std::uint64_t* to);
  void (*widen_f16)(const std::uint16_t* from, std::size_t n, float* to);
  void (*widen_bf16)(const std::uint16_t* from, std::size_t n, float* to);
};

extern const Kernels kernels_baseline;
extern const Kernels kernels_avx2;    ///< x86-64 only
extern const Kernels kernels_avx512;  ///< x86-64 only

/// Lists the kernels of every instruction set that the running machine has, the widest first.
const std::vector<const Kernels*>& available_kernels();

/// Returns the kernels of an instruction set, by name; the widest without one. Throws a usage Error
/// that lists those that the running machine has.
const Kernels& choose_kernels(const std::string& instruction_set = "");

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
