#include "cpu/reduce/axis_reducer.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
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
        masks_(!decoding.mask.selects_all()),
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
      else if (whole && !masks_)
        reduce_axes(values_.values(elements, 0, slab.grid.chunk_elements(), {slab.indices, 0}),
                    axes);
      else
        reduce_rows(elements, slab.indices, ChunkRows(slab.grid, slab.target, chunk.number));
    }
  }

 private:
  /// Reduces elements of which others are left out, one by one.
  void reduce_counted(const ChunkElements& elements, const BoxIndices& indices,
                      const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      values_.for_each_counted(elements, row.source, row.elements, {indices, row.target},
                               [&](Value value, std::uint64_t i) {
                                 const std::uint64_t place = row.target + i;
                                 outputs_.count(place % outputs_.outputs());
                                 column_reducer_.reduce_element(value, place, *rows_);
                               });
    });
  }

  /// Reduces chunks that bring only some of their elements, or are masked.
  void reduce_rows(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
        const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
        const std::uint64_t place = row.target + done;
        column_reducer_.reduce_run(values_.values(elements, row.source + done, n, {indices, place}),
                                   n, place, *rows_);
      }
    });
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
  bool masks_;
  ChunkValues<Stored, Value> values_;
  bool takes_all_;  ///< elements that are left out, too, which are marked
  AxisOutputs outputs_;
  ColumnReducer<Value> column_reducer_;
  LineReducer<Value> line_reducer_;
  const BoxIndices* rows_ = nullptr;  ///< of the slab
  std::vector<Value> packed_;         ///< row_tile rows
};

std::unique_ptr<AxisReducer> make_chunked_reducer(const Kernels& kernels, ElementFormat format,
                                                  const Decoding& decoding, ReduceNeeds needs) {
  return visit_value_type(
      format.type, decoding, [&](auto stored, auto value) -> std::unique_ptr<AxisReducer> {
        return std::make_unique<ChunkedAxisReducer<decltype(stored), decltype(value)>>(
            kernels, format.order, decoding, needs);
      });
}

/// Integers of type T reduced as the floats of equal value.
template <class T>
class IntegersAsFloats final : public AxisReducer {
 public:
  explicit IntegersAsFloats(std::unique_ptr<AxisReducer> floats) : floats_(std::move(floats)) {}

  void begin(std::uint64_t outputs) override { floats_->begin(outputs); }
  void reduce(const StagedChunks& slab, const std::byte* staging, const BoxIndices& rows) override {
    floats_->reduce(slab, staging, rows);
  }
  AxisParts finish() override {
    AxisParts parts = floats_->finish();
    make_integers(parts.minimum, 0);
    make_integers(parts.maximum, ~std::uint64_t{0});
    return parts;
  }

 private:
  static void make_integers(std::vector<Extremum>& extrema, std::uint64_t complement) {
    for (Extremum& extremum : extrema) {
      if (!extremum.seen()) continue;
      const T value = static_cast<T>(std::bit_cast<double>(extremum.bits));
      extremum.key = ordered_key(value) ^ complement;
      extremum.bits = value_bits(value);
    }
  }

  std::unique_ptr<AxisReducer> floats_;
};

/// Returns a decoding that gives elements the floats of equal value, of which those that are left
/// out can be marked; nothing where there are none, or nothing is gained.
std::optional<Decoding> as_floats(const Decoding& decoding, ElementType stored) {
  const std::size_t bytes = size_of(stored);
  const bool has_floats = is_integer(stored) ? bytes <= 4 : bytes == 2;
  if (decoding.selects_all() || decoding.unpacking.active || !has_floats) return std::nullopt;
  Decoding floats = decoding;
  floats.unpacking.active = true;
  floats.unpacking.type = floats.unpacking.product =
      bytes <= 2 ? ElementType::f32 : ElementType::f64;
  if (!is_integer(stored) || decoding.values.selects_all()) return floats;
  if (!decoding.stored.selects_all()) return std::nullopt;
  std::swap(floats.stored, floats.values);
  return floats;
}

}  // namespace

std::unique_ptr<AxisReducer> make_axis_reducer(const Kernels& kernels, ElementFormat format,
                                               const Decoding& decoding, ReduceNeeds needs) {
  const std::optional<Decoding> floats = as_floats(decoding, format.type);
  auto reducer = make_chunked_reducer(kernels, format, floats.value_or(decoding), needs);
  if (!floats) return reducer;
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<AxisReducer> {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>)
      return std::make_unique<IntegersAsFloats<T>>(std::move(reducer));
    else
      return std::move(reducer);
  });
}

}  // namespace warpfold::cpu
