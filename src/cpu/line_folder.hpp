#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "core/staged_chunks.hpp"
#include "cpu/axis_outputs.hpp"
#include "cpu/block_accumulator.hpp"
#include "cpu/column_folder.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/sum_levels.hpp"

namespace warpfold::cpu {

/// Lines in memory: element i of line k lies at k * stride + i and belongs to place
/// first_place + k + i * element_places. Each line is of an output of its own.
struct PlacedLines {
  std::size_t lines = 0;
  std::size_t elements = 0;  ///< of each
  std::size_t stride = 0;
  std::uint64_t first_place = 0;
  std::uint64_t element_places = 0;
};

/// One thread's fold of lines into outputs: as a ColumnFolder's, which takes those, turned over,
/// whose sums are not exact in a few doubles or not finite.
template <class T>
class LineFolder {
 public:
  LineFolder(const Kernels& kernels, AxisOutputs& outputs, ColumnFolder<T>& columns)
      : kernels_(kernels_of<T>(kernels)), outputs_(outputs), columns_(columns), levels_(kernels) {}

  void fold(const T* x, const PlacedLines& lines, const BoxIndices& rows) {
    const std::size_t elements = std::min(lines.elements, tile_elements);
    const std::size_t count = std::clamp<std::size_t>(block_elements / elements, 8, most_lines);
    for (std::size_t k = 0; k < lines.lines; k += count) {
      for (std::size_t i = 0; i < lines.elements; i += elements) {
        PlacedLines tile = lines;
        tile.lines = std::min(count, lines.lines - k);
        tile.elements = std::min(elements, lines.elements - i);
        tile.first_place += k + i * lines.element_places;
        fold_tile(x + k * lines.stride + i, tile, rows);
      }
    }
  }

 private:
  /// Of a line: as many in each lane of a vector as a tile of columns has rows.
  static constexpr std::size_t tile_elements = 8 * row_tile;
  static constexpr std::size_t most_lines = 128;

  void fold_tile(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    if constexpr (std::is_floating_point_v<T>) {
      if (!add_floats(x, tile)) return fold_turned(x, tile, rows);
    } else {
      for (std::size_t k = 0; k < tile.lines; ++k)
        add_integers(x + k * tile.stride, tile.elements, first_output(tile) + k);
    }
    std::vector<AxisCounts>& counts = outputs_.parts().counts;
    for (std::size_t k = 0; k < tile.lines; ++k)
      counts[first_output(tile) + k].elements += tile.elements;
    if (outputs_.needs().extrema) fold_extrema(x, tile, rows);
  }

  std::uint64_t first_output(const PlacedLines& tile) const {
    return tile.first_place % outputs_.outputs();
  }

  /// Adds the lines' terms to their outputs' sums; or returns false and leaves them.
  bool add_floats(const T* x, const PlacedLines& tile) {
    const FoldNeeds& needs = outputs_.needs();
    bool checked = !expects_finite_ || !(needs.sum || needs.absolute || needs.squares);
    if (checked && !check_finite(x, tile)) return false;
    for (const Term term : AxisOutputs::terms) {
      if (!outputs_.needs(term)) continue;
      while (!sum(x, tile, term)) {
        if (checked && !levels_.expect_more(term)) return false;
        if (!checked && !check_finite(x, tile)) return false;
        checked = true;
      }
    }
    for (const Term term : AxisOutputs::terms)
      if (outputs_.needs(term)) add_sums(tile, term);
    levels_.relax();
    return true;
  }

  bool check_finite(const T* x, const PlacedLines& tile) {
    expects_finite_ = kernels_.all_finite(x, tile.lines, tile.stride, tile.elements);
    return expects_finite_;
  }

  double* sums_of(Term term, int level) {
    return sums_[static_cast<std::size_t>(term)] + static_cast<std::size_t>(level) * column_tile;
  }

  bool sum(const T* x, const PlacedLines& tile, Term term) {
    double* const sums = sums_of(term, 0);
    const auto& kernels = kernels_.line_sums[static_cast<std::size_t>(term)];
    return levels_.exact(term, [&](std::size_t level) {
      return kernels[level](x, tile.lines, tile.stride, tile.elements, sums);
    }) && are_addends(sums, tile.lines);
  }

  void add_sums(const PlacedLines& tile, Term term) {
    for (int level = 0; level < levels_.of(term); ++level)
      outputs_.add_side_by_side(first_output(tile), sums_of(term, level), tile.lines, term);
  }

  void add_integers(const T* line, std::size_t n, std::uint64_t output) {
    if constexpr (!std::is_floating_point_v<T>) {
      if (outputs_.needs().sum) {
        const int128 sum = kernels_.sum(line, n);
        add_wide(output, static_cast<uint128>(sum < 0 ? -sum : sum), sum < 0 ? -1.0 : 1.0,
                 Term::value);
      }
      if (outputs_.needs().absolute)
        add_wide(output, kernels_.absolute(line, n), 1.0, Term::magnitude);
      if (outputs_.needs().squares) {
        const SquareSums squares = kernels_.squares(line, n);
        add_wide(output, squares.low, 1.0, Term::square);
        add_wide(output, squares.middle, 0x1p33, Term::square);
        add_wide(output, squares.high, 0x1p64, Term::square);
      }
    }
  }

  /// Adds a multiple of a power of two, digit by digit.
  void add_wide(std::uint64_t output, uint128 value, double scale, Term term) {
    constexpr int digit_bits = 48;
    for (; value != 0; value >>= digit_bits, scale *= 0x1p48) {
      const auto digit = static_cast<std::uint64_t>(value) & ((std::uint64_t{1} << digit_bits) - 1);
      outputs_.add(output, static_cast<double>(digit) * scale, term);
    }
  }

  void fold_extrema(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    AxisParts& parts = outputs_.parts();
    const std::uint64_t first = first_output(tile);
    const ElementIndices indices(rows, tile.first_place / outputs_.outputs(),
                                 tile.element_places / outputs_.outputs());
    for (std::size_t k = 0; k < tile.lines; ++k) {
      const T* const line = x + k * tile.stride;
      const MinMax<T> range = kernels_.extrema(line, tile.elements);
      merge_extremum(parts.minimum[first + k], line, tile.elements, indices, range.minimum, 0,
                     kernels_.find);
      merge_extremum(parts.maximum[first + k], line, tile.elements, indices, range.maximum,
                     ~std::uint64_t{0}, kernels_.find);
    }
  }

  /// Lines as columns.
  void fold_turned(const T* x, const PlacedLines& tile, const BoxIndices& rows) {
    turned_.resize(tile_elements * turned_stride);
    for (std::size_t k = 0; k < tile.lines; k += square)
      for (std::size_t i = 0; i < tile.elements; i += square)
        turn_square(x + k * tile.stride + i, tile.stride, std::min(square, tile.lines - k),
                    std::min(square, tile.elements - i), turned_.data() + i * turned_stride + k);
    columns_.fold(turned_.data(),
                  {tile.elements, tile.lines, turned_stride, tile.first_place, tile.element_places},
                  rows);
  }

  static void turn_square(const T* from, std::size_t stride, std::size_t lines,
                          std::size_t elements, T* to) {
    for (std::size_t k = 0; k < lines; ++k)
      for (std::size_t i = 0; i < elements; ++i) to[i * turned_stride + k] = from[k * stride + i];
  }

  /// The side of the squares that lines are turned over by.
  static constexpr std::size_t square = 16;

  /// No multiple of the memory's pages, which would have a column's elements displace one another
  /// in the cache.
  static constexpr std::size_t turned_stride = most_lines + 16;

  using KernelTable = std::remove_cvref_t<decltype(kernels_of<T>(std::declval<const Kernels&>()))>;

  const KernelTable& kernels_;
  AxisOutputs& outputs_;
  ColumnFolder<T>& columns_;
  SumLevels levels_;
  bool expects_finite_ = true;
  std::vector<T> turned_;
  alignas(64) double sums_[column_terms][max_levels * column_tile];
};

}  // namespace warpfold::cpu
