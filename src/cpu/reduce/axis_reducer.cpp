#include "cpu/reduce/axis_reducer.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/chunks/masked_places.hpp"
#include "cpu/reduce/column_reducer.hpp"
#include "cpu/reduce/line_reducer.hpp"

namespace warpfold::cpu {
namespace {

/// Rows of outputs up to this length are packed, side by side.
constexpr std::uint64_t short_row = 64;

/// From one row of a packed tile to the next: no multiple of the memory's pages, which would
/// have a column's elements displace one another in the cache.
constexpr std::size_t packed_stride = column_tile + 16;

template <class Stored, class Value>
class ChunkedAxisReducer final : public AxisReducer {
 public:
  ChunkedAxisReducer(const Kernels& kernels, ByteOrder order, const Decoding& decoding,
                     ReduceNeeds needs)
      : kernels_(kernels),
        mask_(decoding.mask),
        values_(kernels, order, decoding),
        takes_all_(decoding.selects_all() || values_.marks_left_out()),
        outputs_(kernels, needs, values_.marks_left_out()),
        column_reducer_(kernels, outputs_),
        line_reducer_(kernels, outputs_) {}

  void begin(std::uint64_t outputs) override { outputs_.begin(outputs); }

  AxisParts finish() override { return outputs_.finish(); }

  void reduce(const StagedChunks& slab, const std::byte* staging, const BoxIndices& rows) override {
    rows_ = &rows;
    if (takes_all_) outputs_.count_places(slab.target.elements);
    for (const StagedChunk& chunk : slab.chunks) {
      const ChunkElements elements(kernels_, sizeof(Stored), slab, chunk, staging);
      const ChunkAxes axes(slab.grid, slab.target, chunk.number);
      const bool whole = axes.within(slab.target.elements) &&
                         slab.grid.chunk_elements() <= 2 * slab.target.elements;
      if (!takes_all_)
        reduce_counted(elements, slab.indices, ChunkRows(slab.grid, slab.target, chunk.number));
      else if (whole && mask_.selects_all())
        reduce_axes(values_.values(elements, 0, slab.grid.chunk_elements()), axes);
      else
        reduce_rows(elements, slab.indices, ChunkRows(slab.grid, slab.target, chunk.number));
    }
  }

 private:
  void reduce_counted(const ChunkElements& elements, const BoxIndices& indices,
                      const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
        const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
        const std::uint64_t place = row.target + done;
        const bool masked = !mask_.selects_all();
        if (masked && mask_.look_at(indices, place, n) == 0) continue;
        values_.for_each_counted(elements, row.source + done, n, [&](Value value, std::uint64_t i) {
          if (masked && !mask_.counts(i)) return;
          outputs_.count((place + i) % outputs_.outputs());
          column_reducer_.reduce_element(value, place + i, *rows_);
        });
      }
    });
  }

  /// Reduces chunks that bring only some of their elements, or are masked.
  void reduce_rows(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
        const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
        const std::uint64_t place = row.target + done;
        const Value* values = values_.values(elements, row.source + done, n);
        column_reducer_.reduce_run(masked(values, n, place, indices), n, place, *rows_);
      }
    });
  }

  /// Returns values of which those that the mask leaves out are marked.
  const Value* masked(const Value* values, std::size_t n, std::uint64_t place,
                      const BoxIndices& indices) {
    if constexpr (std::is_floating_point_v<Value>) {
      if (mask_.selects_all() || mask_.look_at(indices, place, n) == n) return values;
      std::copy_n(values, n, masked_);
      mask_.fill(reinterpret_cast<std::byte*>(masked_), sizeof(Value),
                 std::bit_cast<Word<Value>>(left_out_mark<Value>));
      return masked_;
    }
    return values;
  }

  /// Reduces a whole chunk, by the dimension in which its elements lie side by side.
  void reduce_axes(const Value* x, const ChunkAxes& axes) {
    const int inner = axes.size() - 1;
    if (inner < 0)
      return column_reducer_.reduce_run(x + axes.first_source(), 1, axes.first_target(), *rows_);
    if (axes[inner].source != 1) return reduce_axes_one_by_one(x, axes);
    if (is_reduced(axes[inner])) return reduce_lines(x, axes, inner);
    if (axes[inner].target == 1) return reduce_side_by_side(x, axes, inner);
    reduce_axes_one_by_one(x, axes);
  }

  bool is_reduced(const ChunkAxis& axis) const { return axis.target % outputs_.outputs() == 0; }

  void reduce_axes_one_by_one(const Value* x, const ChunkAxes& axes) {
    axes.for_each_beside({}, [&](std::uint64_t source, std::uint64_t target) {
      column_reducer_.reduce_element(x[source], target, *rows_);
    });
  }

  /// Returns the axis of kept dimensions whose outputs are `target` apart; -1 where there is none.
  int axis_of_target(const ChunkAxes& axes, std::uint64_t target) const {
    for (int i = axes.size() - 1; i >= 0; --i)
      if (axes[i].target == target && target < outputs_.outputs()) return i;
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
    const int row = n < outputs_.outputs() ? row_axis(axes) : -1;
    if (row >= 0 && follow_one_another(axes[row], n)) return reduce_groups(x, axes, row);
    const int group = row < 0 || n > short_row ? -1 : axis_of_target(axes, n);
    if (group >= 0) return reduce_packed(x, axes, row, group);
    axes.for_each_beside({row, inner}, [&](std::uint64_t source, std::uint64_t target) {
      if (row < 0) return column_reducer_.reduce_run(x + source, n, target, *rows_);
      column_reducer_.reduce(
          x + source, {axes[row].count, n, axes[row].source, target, axes[row].target}, *rows_);
    });
  }

  /// Tells whether rows of `n` are short, without gaps, and enough to make columns in groups.
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
      column_reducer_.reduce(first, {rows, columns, columns, target, columns / n * step, n, step},
                             *rows_);
      column_reducer_.reduce(first + rows * columns,
                             {1, rest, rest, target + rows * columns / n * step, 0, n, step},
                             *rows_);
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
          column_reducer_.reduce(packed_.data(), tile, *rows_);
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
      line_reducer_.reduce(
          x + source, {column.count, axes[inner].count, column.source, target, axes[inner].target},
          *rows_);
    });
  }

  const Kernels& kernels_;
  MaskedPlaces mask_;
  ChunkValues<Stored, Value> values_;
  bool takes_all_;  ///< elements that are left out, too, which are marked
  AxisOutputs outputs_;
  ColumnReducer<Value> column_reducer_;
  LineReducer<Value> line_reducer_;
  const BoxIndices* rows_ = nullptr;  ///< of the slab
  std::vector<Value> packed_;         ///< row_tile rows
  alignas(64) Value masked_[block_elements];
};

}  // namespace

std::unique_ptr<AxisReducer> make_axis_reducer(const Kernels& kernels, ElementFormat format,
                                               const Decoding& decoding, ReduceNeeds needs) {
  return visit_value_type(
      format.type, decoding, [&](auto stored, auto value) -> std::unique_ptr<AxisReducer> {
        return std::make_unique<ChunkedAxisReducer<decltype(stored), decltype(value)>>(
            kernels, format.order, decoding, needs);
      });
}

}  // namespace warpfold::cpu
