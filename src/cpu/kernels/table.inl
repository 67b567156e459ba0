/// Everything that one instruction set's kernels consist of, compiled once for each.
///
/// All of it has internal linkage and calls no inline function of any header: the linker keeps one
/// copy of those for the whole program, and it must not be one of this file's instructions.

#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "core/numeric/expansion.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {
namespace {

#include "cpu/kernels/vectors.inl"

#include "cpu/kernels/bin_search.inl"
#include "cpu/kernels/decoding.inl"
#include "cpu/kernels/extraction.inl"

#include "cpu/kernels/float_blocks.inl"
#include "cpu/kernels/integer_blocks.inl"
#include "cpu/kernels/order.inl"
#include "cpu/kernels/selection.inl"
#include "cpu/kernels/tile_scan.inl"

#include "cpu/kernels/columns.inl"
#include "cpu/kernels/line_scan.inl"
#include "cpu/kernels/lines.inl"
#include "cpu/kernels/products.inl"

}  // namespace

#define WARPFOLD_DECODING(T)                                                             \
  {                                                                                      \
    select_values<T>, unpack_values<T, float>, unpack_values<T, double>, pack_values<T>, \
        replace_values<T>                                                                \
  }

#define WARPFOLD_INTEGER_KERNELS(T)                                                            \
  {                                                                                            \
    integer_sum<T>, integer_absolute<T>, integer_squares<T>, integer_extrema<T>, find<T>,      \
        count_below<T>, least_from<T>, integer_column_sums<T, false>,                          \
        integer_column_sums<T, true>, column_extrema<T>, find_regions<T>, WARPFOLD_DECODING(T) \
  }

#define WARPFOLD_EXTRACTIONS(T, term)                                                  \
  {                                                                                    \
    plain_sum<T, term>, extract<T, term, 1>, extract<T, term, 2>, extract<T, term, 3>, \
        extract<T, term, 4>                                                            \
  }

#define WARPFOLD_SUMS_OF(sums, T, term) \
  { sums<T, term, 1>, sums<T, term, 2>, sums<T, term, 3>, sums<T, term, 4> }

#define WARPFOLD_SUMS(sums, T)                                                          \
  {                                                                                     \
    WARPFOLD_SUMS_OF(sums, T, Term::value), WARPFOLD_SUMS_OF(sums, T, Term::magnitude), \
        WARPFOLD_SUMS_OF(sums, T, Term::square)                                         \
  }

#define WARPFOLD_PRODUCT_SUMS(T)                                                              \
  {{column_products<T, false, 1>, column_products<T, false, 2>, column_products<T, false, 3>, \
    column_products<T, false, 4>},                                                            \
   {column_products<T, true, 1>, column_products<T, true, 2>, column_products<T, true, 3>,    \
    column_products<T, true, 4>}},                                                            \
  {                                                                                           \
    line_products<T, 1>, line_products<T, 2>, line_products<T, 3>, line_products<T, 4>        \
  }

#define WARPFOLD_COLUMNS(T) \
  WARPFOLD_SUMS(column_sums, T), WARPFOLD_SUMS(line_sums, T), column_extrema<T>, all_finite<T>

const Kernels WARPFOLD_KERNEL_TABLE = {
    WARPFOLD_KERNEL_NAME,
    headroom,
    rounds_unflagged,
    WARPFOLD_INTEGER_KERNELS(std::int8_t),
    WARPFOLD_INTEGER_KERNELS(std::int16_t),
    WARPFOLD_INTEGER_KERNELS(std::int32_t),
    WARPFOLD_INTEGER_KERNELS(std::int64_t),
    WARPFOLD_INTEGER_KERNELS(std::uint8_t),
    WARPFOLD_INTEGER_KERNELS(std::uint16_t),
    WARPFOLD_INTEGER_KERNELS(std::uint32_t),
    WARPFOLD_INTEGER_KERNELS(std::uint64_t),
    {{WARPFOLD_EXTRACTIONS(float, Term::value),
      WARPFOLD_EXTRACTIONS(float, Term::magnitude),
      WARPFOLD_EXTRACTIONS(float, Term::square),
      {}},
     float_extrema<float>,
     find<float>,
     sanitize<float>,
     nullptr,
     scan_tile<false, float>,
     scan_tile<true, float>,
     WARPFOLD_COLUMNS(float),
     find_regions<float>,
     add_to_lines<float>,
     multiply<float>,
     WARPFOLD_PRODUCT_SUMS(float),
     WARPFOLD_DECODING(float)},
    {{WARPFOLD_EXTRACTIONS(double, Term::value), WARPFOLD_EXTRACTIONS(double, Term::magnitude),
      WARPFOLD_EXTRACTIONS(double, Term::square), WARPFOLD_EXTRACTIONS(double, Term::square_error)},
     float_extrema<double>,
     find<double>,
     sanitize<double>,
     drop_unsquarable<double>,
     scan_tile<false, double>,
     scan_tile<true, double>,
     WARPFOLD_COLUMNS(double),
     find_regions<double>,
     add_to_lines<double>,
     multiply<double>,
     WARPFOLD_PRODUCT_SUMS(double),
     WARPFOLD_DECODING(double)},
    add_columns,
    count_bits,
    products,
    drop_outer,
    swap_bytes<std::uint16_t>,
    swap_bytes<std::uint32_t>,
    swap_bytes<std::uint64_t>,
    unshuffle<std::uint16_t>,
    unshuffle<std::uint32_t>,
    unshuffle<std::uint64_t>,
    widen_f16,
    widen_bf16,
};

}  // namespace warpfold::cpu
