#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "core/layout/staged_chunks.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/axis_outputs.hpp"
#include "cpu/reduce/block_accumulator.hpp"
#include "cpu/reduce/finite_terms.hpp"

namespace warpfold::cpu {

/// Lines in memory: element i of line k lies at k * stride + i and belongs to place
/// first_place + k + i * element_places. Each line is of an output of its own.
struct PlacedLines {
  std::size_t lines = 0;
  std::size_t elements = 0;  ///< elements per line
  std::size_t stride = 0;
  std::uint64_t first_place = 0;
  std::uint64_t element_places = 0;
};

/// One thread's reduction of lines into outputs, as a ColumnReducer's of columns.
template <class T>
class LineReducer {
 public:
  LineReducer(const Kernels& kernels, AxisOutputs& outputs)
      : kernels_(kernels_of<T>(kernels)),
        outputs_(outputs),
        levels_(kernels),
        finite_terms_(kernels, outputs, levels_) {}

  void reduce(const T* x, const PlacedLines& lines, const BoxIndices& rows) {
    const std::size_t elements = std::min(lines.elements, tile_elements);
    const std::size_t count = std::clamp<std::size_t>(block_elements / elements, 8, column_tile);
    for (std::size_t k = 0; k < lines.lines; k += count) {
      for (std::size_t i = 0; i < lines.elements; i += elements) {
        PlacedLines tile = lines;
        tile.lines = std::min(count, lines.lines - k);
        tile.elements = std::min(elements, lines.elements - i);
        tile.first_place += k + i * lines.element_places;
        reduce_tile(x + k * lines.stride + i, tile, rows);
      }
    }
  }

 private:
  /// The most elements of a line: as many for each element of a vector as a tile of columns has
  /// rows.
  static constexpr std::size_t tile_elements = 8 * row_tile;

  void reduce_tile(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    if constexpr (std::is_floating_point_v<T>) {
      reduce_floats(x, tile, rows);
    } else {
      reduce_integers(x, tile);
    }
    if (outputs_.needs().extrema) reduce_extrema(x, tile, rows);
  }

  std::uint64_t first_output(const PlacedLines& tile) const {
    return tile.first_place % outputs_.row_places();
  }

  /// Returns the indices of line k.
  ElementIndices indices_of(const PlacedLines& tile, std::size_t k, const BoxIndices& rows) const {
    const std::uint64_t places = outputs_.places_of_index();
    return {rows, (tile.first_place + k) / places, tile.element_places / places};
  }

  void reduce_floats(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    const std::uint64_t output = first_output(tile);
    finite_terms_.add(
        {x, tile.lines, tile.elements, tile.stride},
        [&](const FloatRows<T>& lines, Term term) { return add_term(lines, term, output); },
        [&](const FloatRows<T>& lines, Term term) { add_one_by_one(lines, term, output); },
        [&](std::size_t k, const SpecialCounts& specials) {
          count_specials(x + k * tile.stride, tile.elements, specials, output + k,
                         indices_of(tile, k, rows));
        });
  }

  /// Adds the lines' terms to the sums of outputs from `output` on; or returns false and leaves
  /// them.
  bool add_term(const FloatRows<T>& lines, Term term, std::uint64_t output) {
    const auto& kernels = kernels_.line_sums[static_cast<std::size_t>(term)];
    if (!levels_.exact(term, [&](std::size_t level) {
          return kernels[level](lines.x, lines.rows, lines.stride, lines.columns, sums_);
        }))
      return false;
    outputs_.add_side_by_side(output, sums_, lines.rows, levels_.of(term), term);
    return true;
  }

  void add_one_by_one(const FloatRows<T>& lines, Term term, std::uint64_t output) {
    for (std::size_t k = 0; k < lines.rows; ++k)
      for (std::size_t i = 0; i < lines.columns; ++i)
        outputs_.add_term(output + k, static_cast<double>(lines.x[k * lines.stride + i]), term);
  }

  void count_specials(const T* line, std::size_t n, const SpecialCounts& specials,
                      std::uint64_t output, const ElementIndices& indices) {
    AxisCounts& counts = outputs_.counts(output);
    const auto left_out = static_cast<std::int64_t>(
        std::count_if(line, line + n, [&](T value) { return outputs_.is_left_out(value); }));
    outputs_.leave_out(output, static_cast<std::uint64_t>(left_out));
    counts.nan += static_cast<std::uint64_t>(specials.nan - left_out);
    counts.positive_infinities += static_cast<std::uint64_t>(specials.positive_infinities);
    counts.negative_infinities += static_cast<std::uint64_t>(specials.negative_infinities);
    if (specials.nan == left_out) return;
    const auto is_nan = [&](T value) { return value != value && !outputs_.is_left_out(value); };
    const auto place = std::find_if(line, line + n, is_nan) - line;
    std::uint64_t& first = outputs_.first_nan(output);
    first = std::min(first, indices(static_cast<std::uint64_t>(place)));
  }

  void reduce_integers(const T* x, const PlacedLines& tile) {
    if (outputs_.needs().sum) add_integers(x, tile, kernels_.sum, Term::value);
    if (outputs_.needs().absolute) add_integers(x, tile, kernels_.absolute, Term::magnitude);
    if (outputs_.needs().squares)
      for (std::size_t k = 0; k < tile.lines; ++k)
        add_squares(kernels_.squares(x + k * tile.stride, tile.elements), first_output(tile) + k);
  }

  /// Adds lines' sums, of less than 2^84, as two levels of doubles.
  template <class Sum>
  void add_integers(const T* x, const PlacedLines& tile, Sum (*sum_of)(const T*, std::size_t),
                    Term term) {
    double* const high = sums_;
    double* const low = sums_ + column_tile;
    for (std::size_t k = 0; k < tile.lines; ++k) {
      const Sum sum = sum_of(x + k * tile.stride, tile.elements);
      high[k] = static_cast<double>(static_cast<std::int64_t>(sum >> 32)) * 0x1p32;
      low[k] = static_cast<double>(static_cast<std::uint32_t>(sum));
    }
    for (std::size_t k = tile.lines; k % vector_columns != 0; ++k) high[k] = low[k] = 0.0;
    outputs_.add_side_by_side(first_output(tile), sums_, tile.lines, 2, term);
  }

  void add_squares(const SquareSums& sums, std::uint64_t output) {
    add_wide(sums.low, 1.0, output);
    add_wide(sums.middle, 0x1p33, output);
    add_wide(sums.high, 0x1p64, output);
  }

  /// Adds a multiple of a power of two to the squares, digit by digit.
  void add_wide(uint128 value, double scale, std::uint64_t output) {
    constexpr int digit_bits = 48;
    for (; value != 0; value >>= digit_bits, scale *= 0x1p48) {
      const auto digit = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << digit_bits) - 1);
      outputs_.add(output, static_cast<double>(digit) * scale, Term::square);
    }
  }

  void reduce_extrema(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    const std::uint64_t first = first_output(tile);
    for (std::size_t k = 0; k < tile.lines; ++k) {
      const T* const line = x + k * tile.stride;
      const ElementIndices indices = indices_of(tile, k, rows);
      const MinMax<T> range = kernels_.extrema(line, tile.elements);
      merge_extremum(outputs_.minimum(first + k), line, tile.elements, indices, range.minimum, 0,
                     kernels_.find);
      merge_extremum(outputs_.maximum(first + k), line, tile.elements, indices, range.maximum,
                     ~std::uint64_t{0}, kernels_.find);
    }
  }

  using KernelTable = std::remove_cvref_t<decltype(kernels_of<T>(std::declval<const Kernels&>()))>;

  const KernelTable& kernels_;
  AxisOutputs& outputs_;
  SumLevels levels_;
  FiniteTerms<T> finite_terms_;
  alignas(64) double sums_[max_levels * column_tile];
};

}  // namespace warpfold::cpu
