#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/axis_outputs.hpp"
#include "cpu/reduce/column_reducer.hpp"
#include "cpu/reduce/line_reducer.hpp"

namespace warpfold::cpu {

/// Rows of outputs up to this length are packed, side by side.
inline constexpr std::uint64_t short_row = 64;

/// From one row of a packed tile to the next: no multiple of the memory's pages, which would
/// have a column's elements displace one another in the cache.
inline constexpr std::size_t packed_stride = column_tile + 16;

/// One thread's reduction of values into outputs: of those of a chunk, or of a run of places.
template <class Value>
class AxisValueReducer {
 public:
  AxisValueReducer(const Kernels& kernels, AxisOutputs& outputs)
      : outputs_(outputs), columns_(kernels, outputs), lines_(kernels, outputs) {}

  /// Has extrema in a row r have index rows(r) from now on; that is another's.
  void set_rows(const BoxIndices& rows) { rows_ = &rows; }

  void reduce_element(Value x, std::uint64_t place) { columns_.reduce_element(x, place, *rows_); }

  /// Reduces `n` values of consecutive places.
  void reduce_run(const Value* x, std::uint64_t n, std::uint64_t place) {
    columns_.reduce_run(x, n, place, *rows_);
  }

  /// Reduces a whole chunk, by the dimension in which its elements lie side by side.
  void reduce(const Value* x, const ChunkAxes& axes) {
    const int inner = axes.size() - 1;
    if (inner < 0)
      return columns_.reduce_run(x + axes.first_source(), 1, axes.first_target(), *rows_);
    if (axes[inner].source != 1) return reduce_one_by_one(x, axes);
    if (is_reduced(axes[inner])) return reduce_lines(x, axes, inner);
    if (axes[inner].target == 1) return reduce_side_by_side(x, axes, inner);
    reduce_one_by_one(x, axes);
  }

  /// Returns whether outputs get few elements each of such a chunk, whose rows lie side by side.
  bool has_few_rows(const ChunkAxes& axes) const {
    constexpr std::uint64_t many = 16;
    const int inner = axes.size() - 1;
    if (inner < 0 || axes.size() + 2 > max_dimensions) return false;
    std::uint64_t rows = 1;
    for (int i = 0; i < axes.size(); ++i)
      if (is_reduced(axes[i])) rows *= axes[i].count;
    return axes[inner].source == 1 && axes[inner].target == 1 && !is_reduced(axes[inner]) &&
           rows < many;
  }

  /// Calls body(tile) for tiles of about so many elements that one call does well: many rows of
  /// some columns, or lines.
  template <class Body>
  void for_each_tile(const ChunkAxes& axes, std::uint64_t elements, Body&& body) const {
    const ChunkAxes rows = axes.in_rows(outputs_.row_places());
    rows.for_each_tile(tile_counts(rows, elements), body);
  }

 private:
  /// Returns how many indices of each axis a tile has.
  std::array<std::uint64_t, max_dimensions> tile_counts(const ChunkAxes& axes,
                                                        std::uint64_t elements) const {
    std::array<std::uint64_t, max_dimensions> counts;
    counts.fill(1);
    const auto take = [&](int axis, std::uint64_t maximum) {
      const std::uint64_t count = std::min({axes[axis].count, elements, maximum});
      counts[static_cast<std::size_t>(axis)] = count;
      elements /= count;
    };
    const int inner = axes.size() - 1;
    if (inner < 0) return counts;
    take(inner, is_reduced(axes[inner]) ? elements : column_tile);
    for (const bool reduced : {true, false})
      for (int axis = inner - 1; axis >= 0; --axis)
        if (is_reduced(axes[axis]) == reduced) take(axis, elements);
    return counts;
  }

  bool is_reduced(const ChunkAxis& axis) const { return axis.target % outputs_.row_places() == 0; }

  void reduce_one_by_one(const Value* x, const ChunkAxes& axes) {
    axes.for_each_beside({}, [&](std::uint64_t source, std::uint64_t target) {
      columns_.reduce_element(x[source], target, *rows_);
    });
  }

  /// Returns the axis of kept dimensions whose outputs are `target` apart; -1 where there is none.
  int axis_of_target(const ChunkAxes& axes, std::uint64_t target) const {
    for (int i = axes.size() - 1; i >= 0; --i)
      if (axes[i].target == target && target < outputs_.row_places()) return i;
    return -1;
  }

  /// Returns the longest axis of those that are reduced; -1 where there is none.
  int row_axis(const ChunkAxes& axes) const {
    int longest = -1;
    for (int i = 0; i < axes.size(); ++i)
      if (is_reduced(axes[i]) && (longest < 0 || axes[i].count > axes[longest].count)) longest = i;
    return longest;
  }

  /// Elements side by side in the chunk go to places side by side.
  void reduce_side_by_side(const Value* x, const ChunkAxes& axes, int inner) {
    const std::uint64_t n = axes[inner].count;
    const int row = n <= outputs_.row_places() ? row_axis(axes) : -1;
    if (row >= 0 && follow_one_another(axes[row], n)) return reduce_groups(x, axes, row);
    const int group = row < 0 || n > short_row ? -1 : axis_of_target(axes, n);
    if (group >= 0) return reduce_packed(x, axes, row, group);
    axes.for_each_beside({row, inner}, [&](std::uint64_t source, std::uint64_t target) {
      if (row < 0) return columns_.reduce_run(x + source, n, target, *rows_);
      columns_.reduce(x + source, {axes[row].count, n, axes[row].source, target, axes[row].target},
                      *rows_);
    });
  }

  /// Returns whether rows of `n` are short, without gaps, and enough to make columns in groups.
  static bool follow_one_another(const ChunkAxis& row, std::uint64_t n) {
    return row.source == n && n <= short_row &&
           row.count * n >= 4 * columns_of_groups(n, row.count * n);
  }

  /// Short rows one behind another: several make up a row of a matrix.
  void reduce_groups(const Value* x, const ChunkAxes& axes, int row) {
    const int inner = axes.size() - 1;
    const std::uint64_t n = axes[inner].count;
    const std::uint64_t columns = columns_of_groups(n, axes[row].count * n);
    const std::uint64_t rows = axes[row].count * n / columns;
    const std::uint64_t step = axes[row].target;
    const std::uint64_t rest = axes[row].count * n % columns;
    axes.for_each_beside({row, inner}, [&](std::uint64_t source, std::uint64_t target) {
      const Value* const first = x + source;
      columns_.reduce(first, {rows, columns, columns, target, columns / n * step, n, step}, *rows_);
      columns_.reduce(first + rows * columns,
                      {1, rest, rest, target + rows * columns / n * step, 0, n, step}, *rows_);
    });
  }

  /// Reduces short rows that are too few for groups: several times as many are brought side by
  /// side.
  void reduce_packed(const Value* x, const ChunkAxes& axes, int row, int group) {
    const int inner = axes.size() - 1;
    const std::uint64_t n = axes[inner].count;
    const std::uint64_t maximum = column_tile / n;
    packed_.resize(row_tile * packed_stride);
    axes.for_each_beside({row, group, inner}, [&](std::uint64_t source, std::uint64_t target) {
      for (std::uint64_t r = 0; r < axes[row].count; r += row_tile) {
        for (std::uint64_t g = 0; g < axes[group].count; g += maximum) {
          const std::uint64_t groups = std::min(maximum, axes[group].count - g);
          const PlacedMatrix tile = {std::min<std::size_t>(row_tile, axes[row].count - r),
                                     groups * n, packed_stride,
                                     target + r * axes[row].target + g * n, axes[row].target};
          pack(x + source + r * axes[row].source + g * axes[group].source, axes[row].source,
               axes[group].source, n, tile);
          columns_.reduce(packed_.data(), tile, *rows_);
        }
      }
    });
  }

  void pack(const Value* x, std::uint64_t row_source, std::uint64_t group_source, std::uint64_t n,
            const PlacedMatrix& tile) {
    for (std::size_t c = 0; c < tile.columns; c += n)
      for (std::size_t r = 0; r < tile.rows; ++r)
        std::copy_n(x + c / n * group_source + r * row_source, n,
                    packed_.data() + r * packed_stride + c);
  }

  /// Elements side by side in the chunk go to one output, beside the one that another axis goes to.
  void reduce_lines(const Value* x, const ChunkAxes& axes, int inner) {
    const int beside = axis_of_target(axes, 1);
    const ChunkAxis column = beside < 0 ? ChunkAxis{} : axes[beside];
    axes.for_each_beside({inner, beside}, [&](std::uint64_t source, std::uint64_t target) {
      lines_.reduce(x + source,
                    {column.count, axes[inner].count, column.source, target, axes[inner].target},
                    *rows_);
    });
  }

  AxisOutputs& outputs_;
  ColumnReducer<Value> columns_;
  LineReducer<Value> lines_;
  const BoxIndices* rows_ = nullptr;
  std::vector<Value> packed_;  ///< row_tile rows
};

}  // namespace warpfold::cpu
