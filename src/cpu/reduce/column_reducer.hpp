#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "core/results/axis_parts.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/reduce/axis_outputs.hpp"
#include "cpu/reduce/finite_terms.hpp"

namespace warpfold::cpu {

/// A matrix in memory whose element (r, c) lies at r * stride + c and belongs to a place of its
/// own. All of a column belongs to one output; where columns come in groups, their outputs are
/// those of the first group again.
struct PlacedMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
  std::uint64_t first_place = 0;
  std::uint64_t row_places = 0;  ///< from one row to the next
  std::size_t group = 0;         ///< consecutive places; 0: all columns
  std::uint64_t group_places = 0;

  std::uint64_t place(std::size_t row, std::size_t column) const {
    const std::uint64_t first = first_place + row * row_places;
    return group == 0 ? first + column : first + column / group * group_places + column % group;
  }
};

/// Returns the fewest groups of columns that fill a vector, in columns.
constexpr std::size_t narrowest(std::size_t group) {
  return (vector_columns + group - 1) / group * group;
}

/// Returns as many columns of whole groups, if possible in whole vectors, as are worth reducing
/// side by side; of those, the most that divide `elements` if any do. At most half a tile's where
/// `group` is.
constexpr std::size_t columns_of_groups(std::size_t group, std::uint64_t elements) {
  constexpr std::size_t enough = 24;
  constexpr std::size_t wanted = 64;
  constexpr std::size_t limit = column_tile / 2;
  const std::size_t vectors = std::lcm(group, vector_columns);
  const std::size_t minimum = vectors <= limit ? vectors : narrowest(group);
  const std::size_t maximum = minimum * std::max<std::size_t>(1, wanted / minimum);
  if (elements >= maximum)
    for (std::size_t columns = maximum; columns >= enough; columns -= minimum)
      if (elements % columns == 0) return columns;
  return maximum;
}

/// One thread's reduction of matrices into outputs. Sums run down the columns of tiles, in as few
/// doubles as hold them exactly, and are then added to the outputs' own.
template <class T>
class ColumnReducer {
 public:
  ColumnReducer(const Kernels& kernels, AxisOutputs& outputs)
      : all_kernels_(kernels),
        kernels_(kernels_of<T>(kernels)),
        outputs_(outputs),
        levels_(kernels),
        finite_terms_(kernels, outputs, levels_) {}

  /// An extremum at place p has index rows(p / outputs.places_of_index()).
  void reduce(const T* x, const PlacedMatrix& matrix, const BoxIndices& rows) {
    for (std::size_t r = 0; r < matrix.rows; r += row_tile) {
      for (std::size_t c = 0; c < matrix.columns; c += column_tile) {
        PlacedMatrix tile = matrix;
        tile.rows = std::min(row_tile, matrix.rows - r);
        tile.columns = std::min(column_tile, matrix.columns - c);
        tile.first_place = matrix.place(r, c);
        reduce_tile(x + r * matrix.stride + c, tile, rows);
      }
    }
  }

  /// Reduces `n` elements of consecutive places.
  void reduce_run(const T* x, std::uint64_t n, std::uint64_t place, const BoxIndices& rows) {
    // Short rows lie side by side in a tile's.
    const std::uint64_t outputs = outputs_.row_places();
    const bool is_short = 2 * outputs <= column_tile;
    const std::uint64_t width = is_short ? columns_of_groups(outputs, n) : outputs;
    const std::size_t group = is_short ? outputs : 0;
    const std::uint64_t full = n / width;
    reduce(x, {full, width, width, place, width, group, outputs}, rows);
    reduce(x + full * width, {1, n % width, width, place + full * width, width, group, outputs},
           rows);
  }

  void reduce_element(T x, std::uint64_t place, const BoxIndices& rows) {
    const std::uint64_t output = place % outputs_.row_places();
    const auto index = [&] { return rows(place / outputs_.places_of_index()); };
    if constexpr (floating) {
      if (!std::isfinite(x))
        count_special(x, output, index);
      else
        add_float(x, output);
      if (std::isnan(x)) return;
    } else {
      add_integer(x, output);
    }
    if (!outputs_.needs().extrema) return;
    merge_extremum(outputs_.minimum(output), x, index, 0);
    merge_extremum(outputs_.maximum(output), x, index, ~std::uint64_t{0});
  }

 private:
  static constexpr bool floating = std::is_floating_point_v<T>;

  void reduce_tile(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    if (tile.columns == 0) return;
    find_outputs(tile);
    if constexpr (floating)
      reduce_floats(x, tile, rows);
    else
      reduce_integers(x, tile);
    if (outputs_.needs().extrema) reduce_extrema(x, tile, rows);
  }

  void find_outputs(const PlacedMatrix& tile) {
    const std::uint64_t outputs = outputs_.row_places();
    const std::size_t group = tile.group == 0 ? tile.columns : std::min(tile.group, tile.columns);
    const std::uint64_t first = tile.first_place % outputs;
    side_by_side_ = first + group <= outputs;
    for (std::size_t c = 0; c < group; ++c) output_[c] = first + c;
    if (!side_by_side_)
      for (std::size_t c = 0; c < group; ++c) output_[c] %= outputs;
    for (std::size_t c = group; c < tile.columns; ++c) output_[c] = output_[c - group];
  }

  void reduce_floats(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    finite_terms_.add(
        {x, tile.rows, tile.columns, tile.stride},
        [&](const FloatRows<T>& finite, Term term) {
          return add_term(kernels_, finite.x, finite.stride, tile, term);
        },
        [&](const FloatRows<T>& finite, Term term) {
          add_one_by_one(finite.x, finite.stride, tile, term);
        },
        [&](std::size_t r, const SpecialCounts&) {
          count_specials(x + r * tile.stride, tile, r, rows);
        });
    leave_out_marked(tile.columns);
  }

  void count_specials(const T* row, const PlacedMatrix& tile, std::size_t r,
                      const BoxIndices& rows) {
    if (outputs_.marked() && !count_marked(row, tile.columns)) return;
    for (std::size_t c = 0; c < tile.columns; ++c)
      if (!std::isfinite(row[c]) && !outputs_.is_left_out(row[c]))
        count_special(row[c], output_[c], [&] { return row_index(tile, r, c, rows); });
  }

  template <class Index>
  void count_special(T x, std::uint64_t output, const Index& index) {
    AxisCounts& counts = outputs_.counts(output);
    if (outputs_.is_left_out(x)) return outputs_.leave_out(output, 1);
    if (!std::isnan(x)) {
      ++(x > 0 ? counts.positive_infinities : counts.negative_infinities);
      return;
    }
    ++counts.nan;
    std::uint64_t& first = outputs_.first_nan(output);
    first = std::min(first, index());
  }

  /// Counts a row's marked elements by columns; tells whether others are not finite, either.
  /// Without a branch, as masks are hard to predict.
  bool count_marked(const T* row, std::size_t columns) {
    using Bits = std::make_signed_t<Word<T>>;
    constexpr auto infinity = std::bit_cast<Bits>(std::numeric_limits<T>::infinity());
    const auto mark = std::bit_cast<Bits>(left_out_mark<T>);
    Bits others = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const auto bits = std::bit_cast<Bits>(row[c]);
      const Bits marked = bits == mark ? 1 : 0;
      const Bits special = (bits & std::numeric_limits<Bits>::max()) >= infinity ? 1 : 0;
      left_out_[c] += static_cast<Word<T>>(marked);
      others |= special ^ marked;
    }
    any_left_out_ = true;
    return others != 0;
  }

  void leave_out_marked(std::size_t columns) {
    if (!std::exchange(any_left_out_, false)) return;
    for (std::size_t c = 0; c < columns; ++c)
      outputs_.leave_out(output_[c], std::exchange(left_out_[c], 0));
  }

  std::uint64_t row_index(const PlacedMatrix& tile, std::size_t r, std::size_t c,
                          const BoxIndices& rows) const {
    return rows(tile.place(r, c) / outputs_.places_of_index());
  }

  /// Adds the columns' terms to their outputs' sums; returns false and leaves them where the levels
  /// are too few, or terms too large.
  template <class X>
  bool add_term(const FloatKernels<X>& kernels, const X* x, std::size_t stride,
                const PlacedMatrix& tile, Term term) {
    const auto& columns = kernels.column_sums[static_cast<std::size_t>(term)];
    if (!levels_.exact(term, [&](std::size_t level) {
          return columns[level](x, tile.rows, stride, tile.columns, column_sums_);
        }))
      return false;
    add_columns(tile, levels_.of(term), term);
    return true;
  }

  /// Adds column_sums_, of `levels`, to the outputs' sums.
  void add_columns(const PlacedMatrix& tile, int levels, Term term) {
    const std::size_t narrow = tile.group == 0 ? 0 : narrowest(tile.group);
    if (narrow == 0 || tile.columns < 2 * narrow)
      return add_single(column_sums_, tile.columns, tile.group, levels, term);
    for (int level = 0; level < levels; ++level)
      add_narrowed(column_sums_ + static_cast<std::size_t>(level) * column_tile, tile, narrow,
                   term);
  }

  /// Adds a number for each column once those of the same output have been added up. There is room
  /// for as many more.
  void add_narrowed(double* column_sums, const PlacedMatrix& tile, std::size_t narrow, Term term) {
    const std::size_t rows = (tile.columns + narrow - 1) / narrow;
    std::fill(column_sums + tile.columns, column_sums + rows * narrow, 0.0);
    if (!levels_.exact(term, [&](std::size_t level) {
          return all_kernels_.f64.column_sums[0][level](column_sums, rows, narrow, narrow,
                                                        narrowed_);
        }))
      return add_single(column_sums, tile.columns, tile.group, 1, term);
    add_single(narrowed_, narrow, tile.group, levels_.of(term), term);
  }

  /// Adds numbers of columns that are as they come.
  void add_single(double* sums, std::size_t columns, std::size_t group, int levels, Term term) {
    if (side_by_side_ && columns > 1 && (group == 0 || columns <= group))
      return outputs_.add_side_by_side(output_[0], sums, columns, levels, term);
    for (int level = 0; level < levels; ++level)
      for (std::size_t c = 0; c < columns; ++c)
        outputs_.add(output_[c], sums[static_cast<std::size_t>(level) * column_tile + c], term);
  }

  template <class X>
  void add_one_by_one(const X* x, std::size_t stride, const PlacedMatrix& tile, Term term) {
    for (std::size_t r = 0; r < tile.rows; ++r)
      for (std::size_t c = 0; c < tile.columns; ++c)
        outputs_.add_term(output_[c], static_cast<double>(x[r * stride + c]), term);
  }

  void reduce_integers(const T* x, const PlacedMatrix& tile) {
    if constexpr (!floating) {
      if (outputs_.needs().sum) add_integers(x, tile, kernels_.column_sums, Term::value);
      if (outputs_.needs().absolute)
        add_integers(x, tile, kernels_.column_magnitudes, Term::magnitude);
      if (outputs_.needs().squares) add_squares(x, tile);
    }
  }

  void add_integers(const T* x, const PlacedMatrix& tile, IntegerColumnSums<T> columns, Term term) {
    columns(x, tile.rows, tile.stride, tile.columns, column_sums_);
    add_columns(tile, integer_levels<T>, term);
  }

  /// Integers of up to 32 bits are doubles.
  void add_squares(const T* x, const PlacedMatrix& tile) {
    if constexpr (sizeof(T) < sizeof(double)) {
      widened_.resize(row_tile * column_tile);
      for (std::size_t r = 0; r < tile.rows; ++r)
        std::copy_n(x + r * tile.stride, tile.columns, widened_.data() + r * column_tile);
      while (!add_term(all_kernels_.f64, widened_.data(), column_tile, tile, Term::square))
        if (!levels_.expect_more(Term::square))
          return add_one_by_one(widened_.data(), column_tile, tile, Term::square);
    } else {
      for (std::size_t r = 0; r < tile.rows; ++r)
        for (std::size_t c = 0; c < tile.columns; ++c)
          add_wide_square(x[r * tile.stride + c], output_[c]);
    }
  }

  void add_float(T x, std::uint64_t output) {
    const auto value = static_cast<double>(x);
    for (const Term term : AxisOutputs::terms)
      if (outputs_.needs(term)) outputs_.add_term(output, value, term);
  }

  void add_integer(T x, std::uint64_t output) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const auto adder = [this, output](Term term) {
      return [this, output, term](double part) { outputs_.add(output, part, term); };
    };
    const std::uint64_t bits = value_bits(x);
    const std::uint64_t magnitude = x < T{0} ? std::uint64_t{0} - bits : bits;
    if (outputs_.needs().sum) split_integer(static_cast<Wide>(x), adder(Term::value));
    if (outputs_.needs().absolute) split_integer(magnitude, adder(Term::magnitude));
    if (outputs_.needs().squares) split_square(magnitude, adder(Term::square));
  }

  void add_wide_square(T x, std::uint64_t output) {
    const std::uint64_t bits = value_bits(x);
    split_square(x < T{0} ? std::uint64_t{0} - bits : bits,
                 [&](double part) { outputs_.add(output, part, Term::square); });
  }

  void reduce_extrema(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    using Limits = std::numeric_limits<T>;
    std::fill_n(min_, tile.columns, floating ? Limits::infinity() : Limits::max());
    std::fill_n(maximum_, tile.columns, floating ? -Limits::infinity() : Limits::lowest());
    kernels_.column_extrema(x, tile.rows, tile.stride, tile.columns, min_, maximum_);
    for (std::size_t c = 0; c < tile.columns; ++c) {
      merge_extremum(outputs_.minimum(output_[c]), x, tile, c, rows, min_[c], 0);
      merge_extremum(outputs_.maximum(output_[c]), x, tile, c, rows, maximum_[c],
                     ~std::uint64_t{0});
    }
  }

  /// The row of a column's extremum is looked for only if the extremum counts.
  void merge_extremum(Extremum& best, const T* x, const PlacedMatrix& tile, std::size_t column,
                      const BoxIndices& rows, T value, std::uint64_t complement) {
    const std::uint64_t key = ordered_key(value) ^ complement;
    if (key > best.key) return;
    const auto index = [&](std::size_t r) { return row_index(tile, r, column, rows); };
    if (!Extremum{key, index(0), 0}.better_than(best)) return;
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const T element = x[r * tile.stride + column];
      if (element == value) return best.merge({key, index(r), value_bits(element)});
    }
  }

  template <class Index>
  static void merge_extremum(Extremum& best, T x, const Index& index, std::uint64_t complement) {
    const std::uint64_t key = ordered_key(x) ^ complement;
    if (key <= best.key) best.merge({key, index(), value_bits(x)});
  }

  using KernelTable = std::remove_cvref_t<decltype(kernels_of<T>(std::declval<const Kernels&>()))>;

  const Kernels& all_kernels_;
  const KernelTable& kernels_;
  AxisOutputs& outputs_;
  SumLevels levels_;
  FiniteTerms<T> finite_terms_;
  std::vector<double> widened_;  ///< row_tile rows of column_tile
  bool side_by_side_ = false;    ///< the outputs of a tile's columns, or of a group
  bool any_left_out_ = false;
  std::uint64_t output_[column_tile];
  Word<T> left_out_[column_tile] = {};  ///< elements of columns
  T min_[column_tile];
  T maximum_[column_tile];
  alignas(64) double column_sums_[max_levels * column_tile];
  alignas(64) double narrowed_[max_levels * column_tile];
};

}  // namespace warpfold::cpu
