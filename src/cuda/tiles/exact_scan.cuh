#pragma once

#include <cmath>
#include <cstdint>

#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/tiles/block_view.hpp"
#include "cuda/tiles/digit_columns.cuh"
#include "cuda/tiles/float_tiles.hpp"
#include "cuda/tiles/tile.cuh"

/// Prefixes of any tile, in full width.
namespace warpfold::cuda::kernels {

/// A thread's number of any width, in its column of digits.
class ColumnNumber {
 public:
  __device__ explicit ColumnNumber(DigitColumns& columns) : columns_(columns) {}

  __device__ void clear() {
    for (int i = 0; i <= columns_.count(); ++i) columns_.digit[i][threadIdx.x] = 0;
  }
  __device__ void load() {}
  __device__ void store() const {}

  __device__ void add(double x) {
    ExactSum::digits(x, [&](int limb, std::int64_t addend) {
      for (int i = limb - columns_.first; addend != 0 && i <= columns_.count(); ++i) {
        addend += columns_.digit[i][threadIdx.x];
        columns_.digit[i][threadIdx.x] = static_cast<std::uint32_t>(addend);
        addend >>= 32;
      }
    });
  }

  __device__ double rounded(Rounding rounding) const { return columns_.number().rounded(rounding); }

 private:
  DigitColumns& columns_;
};

/// A thread's number of few digits, in registers.
class RegisterNumber {
 public:
  static constexpr int words = 4;

  __device__ static bool holds(const DigitColumns& columns) { return columns.count() < 2 * words; }

  __device__ explicit RegisterNumber(DigitColumns& columns)
      : columns_(columns), exponent_(32 * (columns.first - ExactSum::low_limbs)) {}

  __device__ void clear() {
#pragma unroll
    for (std::uint64_t& word : word_) word = 0;
  }

  /// The column's digits, the sign of the last in those above.
  __device__ void load() {
    const int top = columns_.count();
    const std::uint32_t sign = columns_.digit[top][threadIdx.x] >> 31 != 0 ? ~0u : 0u;
    const auto digit = [&](int i) { return i <= top ? columns_.digit[i][threadIdx.x] : sign; };
#pragma unroll
    for (int i = 0; i < words; ++i) word_[i] = std::uint64_t{digit(2 * i + 1)} << 32 | digit(2 * i);
  }

  __device__ void store() const {
#pragma unroll
    for (int i = 0; i < 2 * words; ++i)
      if (i <= columns_.count())
        columns_.digit[i][threadIdx.x] = static_cast<std::uint32_t>(word_[i / 2] >> 32 * (i % 2));
  }

  __device__ void add(double x) {
    const ScaledInteger addend = scaled_integer(x);
    if (addend.magnitude == 0) return;
    const int place = addend.exponent - exponent_;
    const int shift = place & 63;
    const std::uint64_t low = addend.magnitude << shift;
    const std::uint64_t high = shift == 0 ? 0 : addend.magnitude >> (64 - shift);
    const std::uint64_t flip = addend.negative ? ~std::uint64_t{0} : 0;
    std::uint64_t carry = addend.negative ? 1 : 0;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      const std::uint64_t part = i == place >> 6 ? low : i == (place >> 6) + 1 ? high : 0;
      word_[i] = sum(word_[i], part ^ flip, carry);
    }
  }

  __device__ double rounded(Rounding rounding) const {
    const bool negative = word_[words - 1] >> 63 != 0;
    const std::uint64_t flip = negative ? ~std::uint64_t{0} : 0;
    std::uint64_t carry = negative ? 1 : 0;
    std::uint64_t top = 0;
    std::uint64_t next = 0;
    std::uint64_t rest = 0;
    int place = 0;
#pragma unroll
    for (int i = 0; i < words; ++i) {
      const std::uint64_t word = sum(word_[i] ^ flip, 0, carry);
      if (word != 0) {
        rest |= top != 0 && place == i - 1 ? next : next | top;
        next = place == i - 1 ? top : 0;
        top = word;
        place = i;
      }
    }
    if (top == 0) return 0.0;
    const int zeros = leading_zeros(top);
    const std::uint64_t significand = top << zeros | (zeros == 0 ? 0 : next >> (64 - zeros));
    const bool sticky = (next << zeros | rest) != 0;
    const double value =
        round_to_double(significand, exponent_ + 64 * place + 63 - zeros, sticky, rounding);
    return negative ? -value : value;
  }

 private:
  __device__ static std::uint64_t sum(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
    const std::uint64_t partial = a + b;
    const std::uint64_t total = partial + carry;
    carry = (partial < a || total < partial) ? 1 : 0;
    return total;
  }

  DigitColumns& columns_;
  int exponent_;  ///< of the least bit
  std::uint64_t word_[words];
};

/// A thread's consecutive elements of a tile.
template <class T>
class ExactPart {
 public:
  static constexpr int elements = scan_order::tile_elements / column_threads;

  __device__ ExactPart(const BlockView& block, const Tile& tile)
      : block_(block),
        tile_(tile),
        first_(static_cast<std::int32_t>(threadIdx.x) * elements),
        end_(min(first_ + elements, tile.count)) {}

  /// Replaces the elements by their prefixes. To be called by a whole block of column_threads.
  template <class Out>
  __device__ void scan(const TileStart& start, const std::int64_t* base_limbs, bool exclusive,
                       DigitColumns& columns) const {
    load_base(start.base_limbs, base_limbs, columns);
    find_columns(columns);
    if (RegisterNumber::holds(columns))
      scan_as<Out>(RegisterNumber(columns), start, exclusive, columns);
    else
      scan_as<Out>(ColumnNumber(columns), start, exclusive, columns);
    __syncthreads();
  }

 private:
  using Values = double[scan_order::lane_elements];

  __device__ static void load_base(LimbRange range, const std::int64_t* limbs,
                                   DigitColumns& columns) {
    for (int i = static_cast<int>(threadIdx.x); i < ExactSum::limbs; i += column_threads)
      columns.base[i] = i >= range.first && i < range.first + range.count ? limbs[i] : 0;
  }

  /// Calls body(place, values) for some elements at a time, what is not finite as 0.
  template <class Body>
  __device__ void for_each_quad(Body body) const {
#pragma unroll 1
    for (std::int32_t place = first_; place < end_; place += scan_order::lane_elements) {
      const Quad<T> quad = read_quad<T>(block_, tile_, place);
      Values values;
#pragma unroll
      for (int k = 0; k < scan_order::lane_elements; ++k) {
        const double x = widened(quad.element[k]);
        values[k] = std::isfinite(x) ? x : 0.0;
      }
      body(place, values);
    }
  }

  /// With one above the elements' highest for the sign and what sums carry.
  __device__ void find_columns(DigitColumns& columns) const {
    int first = ExactSum::limbs;
    int end = 0;
    for_each_quad([&](std::int32_t, const Values& values) {
      for (const double x : values)
        ExactSum::digits(x, [&](int i, std::int64_t) {
          first = min(first, i);
          end = max(end, i + 2);
        });
    });
    kernels::find_columns(columns, first, end);
  }

  template <class Out, class Number>
  __device__ void scan_as(Number number, const TileStart& start, bool exclusive,
                          DigitColumns& columns) const {
    number.clear();
    for_each_quad([&](std::int32_t, const Values& values) {
      for (const double x : values) number.add(x);
    });
    number.store();
    add_before(columns);
    number.load();
    for_each_quad([&](std::int32_t place, const Values& values) {
      Quad<Out> prefixes;
#pragma unroll
      for (int k = 0; k < scan_order::lane_elements; ++k) {
        if (!exclusive) number.add(values[k]);
        const double prefix = number.rounded(rounding_towards<Out>);
        if (exclusive) number.add(values[k]);
        const std::int32_t seen = place + k + (exclusive ? 0 : 1);
        prefixes.element[k] =
            output_element<Out>(scan_order::with_specials(prefix, start.first, seen));
      }
      write_elements(block_, tile_, place, prefixes);
    });
  }

  /// Replaces the sums of the threads' elements by that of all before them.
  __device__ static void add_before(DigitColumns& columns) {
    const int count = columns.count();
    digit_prefix(columns, [&](int i) -> std::int64_t {
      const std::uint32_t digit = columns.digit[i][threadIdx.x];
      if (i < count - 1) return digit;
      return i == count ? 0 : static_cast<std::int32_t>(digit);
    });
  }

  const BlockView& block_;
  const Tile& tile_;
  std::int32_t first_;
  std::int32_t end_;
};

}  // namespace warpfold::cuda::kernels
