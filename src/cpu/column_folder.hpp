#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/axis_parts.hpp"
#include "core/staged_chunks.hpp"
#include "cpu/inexact_flag.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/ordered_key.hpp"

namespace warpfold::cpu {

/// Columns that a long run of elements of one output is folded in.
inline constexpr std::size_t run_columns = 64;

/// A matrix in memory whose element (r, c) lies at r * stride + c and belongs to place
/// first_place + r * row_places + c * column_places. All of a column belongs to one output.
struct PlacedMatrix {
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
  std::uint64_t first_place = 0;
  std::uint64_t row_places = 0;
  std::uint64_t column_places = 1;

  std::uint64_t place(std::size_t row, std::size_t column) const {
    return first_place + row * row_places + column * column_places;
  }
};

/// One thread's fold of matrices into outputs: place p belongs to output p % outputs and to row
/// p / outputs. Sums run down the columns of tiles, in as few doubles as hold them exactly, and are
/// then added to the outputs' own.
template <class T>
class ColumnFolder {
 public:
  ColumnFolder(const Kernels& kernels, FoldNeeds needs)
      : all_kernels_(kernels), kernels_(kernels_of<T>(kernels)), needs_(needs) {
    const int fewest = inexact_is_kept() ? 1 : kernels.plain_behind ? max_levels + 1 : 2;
    fewest_levels_ = fewest;
    std::fill(std::begin(levels_), std::end(levels_), fewest);
  }

  void begin(std::uint64_t outputs) {
    outputs_ = outputs;
    parts_ = AxisParts({.extrema = needs_.extrema}, outputs);
    if (needs_.sum) sums_of(Term::value).clear(outputs);
    if (needs_.absolute) sums_of(Term::magnitude).clear(outputs);
    if (needs_.squares) sums_of(Term::square).clear(outputs);
  }

  AxisParts finish() {
    if (needs_.sum) parts_.sum = sums_of(Term::value).expansions(outputs_);
    if (needs_.absolute) parts_.absolute = sums_of(Term::magnitude).expansions(outputs_);
    if (needs_.squares) parts_.squares = sums_of(Term::square).expansions(outputs_);
    return std::exchange(parts_, {});
  }

  /// `rows(r)` is the index that an extremum in row r has.
  void fold(const T* x, const PlacedMatrix& matrix, const BoxIndices& rows) {
    for (std::size_t r = 0; r < matrix.rows; r += row_tile) {
      for (std::size_t c = 0; c < matrix.columns; c += column_tile) {
        PlacedMatrix tile = matrix;
        tile.rows = std::min(row_tile, matrix.rows - r);
        tile.columns = std::min(column_tile, matrix.columns - c);
        tile.first_place = matrix.place(r, c);
        fold_tile(x + r * matrix.stride + c, tile, rows);
      }
    }
  }

  /// Folds `n` elements of consecutive places.
  void fold_run(const T* x, std::uint64_t n, std::uint64_t place, const BoxIndices& rows) {
    // Short rows lie side by side in a tile's.
    const std::uint64_t width = outputs_ * std::max<std::uint64_t>(1, column_tile / outputs_);
    const std::uint64_t full = n / width;
    fold(x, {full, width, width, place, width}, rows);
    fold(x + full * width, {1, n % width, width, place + full * width, width}, rows);
  }

  void fold_element(T x, std::uint64_t place, const BoxIndices& rows) {
    const PlacedMatrix alone = {1, 1, 1, place, outputs_};
    find_outputs(alone);
    ++parts_.counts[output_[0]].elements;
    if constexpr (floating) {
      if (!std::isfinite(x))
        count_specials(&x, alone, 0, rows);
      else
        add_float(x, output_[0]);
      if (std::isnan(x)) return;
    } else {
      add_integer(x, output_[0]);
    }
    if (!needs_.extrema) return;
    merge_extremum(parts_.minimum[output_[0]], &x, alone, 0, rows, x, 0);
    merge_extremum(parts_.maximum[output_[0]], &x, alone, 0, rows, x, ~std::uint64_t{0});
  }

 private:
  static constexpr bool floating = std::is_floating_point_v<T>;

  /// An expansion for each output, its parts in an array each, for the kernels.
  struct OutputSums {
    std::vector<double> part[4];

    void clear(std::uint64_t outputs) {
      for (std::vector<double>& parts : part) parts.assign(outputs + 8, 0.0);
    }

    /// Returns what there is no room for.
    double add(std::uint64_t output, double addend) {
      for (std::vector<double>& parts : part) {
        const DoublePair taken = two_sum(parts[output], addend);
        parts[output] = taken.high;
        addend = taken.low;
        if (addend == 0.0) break;
      }
      return addend;
    }

    std::vector<Expansion> expansions(std::uint64_t outputs) const {
      std::vector<Expansion> sums(outputs);
      for (std::uint64_t i = 0; i < outputs; ++i)
        sums[i] = {{part[0][i], part[1][i], part[2][i], part[3][i]}};
      return sums;
    }
  };

  static std::size_t index_of(Term term) { return static_cast<std::size_t>(term); }
  OutputSums& sums_of(Term term) { return sums_[index_of(term)]; }

  void fold_tile(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    find_outputs(tile);
    count(tile);
    if constexpr (floating)
      fold_floats(x, tile, rows);
    else
      fold_integers(x, tile);
    if (needs_.extrema) fold_extrema(x, tile, rows);
  }

  void count(const PlacedMatrix& tile) {
    if (one_output_) {
      parts_.counts[output_[0]].elements += tile.rows * tile.columns;
    } else {
      for (std::size_t c = 0; c < tile.columns; ++c)
        parts_.counts[output_[c]].elements += tile.rows;
    }
  }

  void find_outputs(const PlacedMatrix& tile) {
    const std::uint64_t step = tile.column_places % outputs_;
    one_output_ = step == 0;
    std::uint64_t output = tile.first_place % outputs_;
    for (std::size_t c = 0; c < tile.columns; ++c) {
      output_[c] = output;
      output += step;
      if (output >= outputs_) output -= outputs_;
    }
  }

  void fold_floats(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    Finite finite = {x, tile.stride, !expects_finite_};
    if (!expects_finite_ || !(needs_.sum || needs_.absolute || needs_.squares))
      make_finite(x, tile, rows, finite);
    for (const Term term : {Term::value, Term::magnitude, Term::square}) {
      if (!needs(term)) continue;
      while (!add_term(kernels_, finite.x, finite.stride, tile, term)) {
        if (!finite.checked) {
          make_finite(x, tile, rows, finite);
        } else if (!expect_more_levels(term)) {
          add_one_by_one(finite.x, finite.stride, tile, term);
          break;
        }
      }
    }
    relax();
  }

  bool needs(Term term) const {
    if (term == Term::value) return needs_.sum;
    return term == Term::magnitude ? needs_.absolute : needs_.squares;
  }

  /// Whether there are any; where there are none, few may do for the next tile again.
  bool expect_more_levels(Term term) {
    int& levels = levels_[index_of(term)];
    if (levels < max_levels) return ++levels, true;
    levels = std::min(levels, std::max(fewest_levels_, max_levels - 1));
    return false;
  }

  /// A tile's elements with 0 for those that are not finite, once that has been checked.
  struct Finite {
    const T* x;
    std::size_t stride;
    bool checked;
  };

  void make_finite(const T* x, const PlacedMatrix& tile, const BoxIndices& rows, Finite& finite) {
    finite.checked = true;
    expects_finite_ = kernels_.all_finite(x, tile.rows, tile.stride, tile.columns);
    if (expects_finite_) return;
    finite_.resize(row_tile * column_tile);
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const T* row = x + r * tile.stride;
      if (kernels_.sanitize(row, tile.columns, finite_.data() + r * column_tile).any())
        count_specials(row, tile, r, rows);
    }
    finite = {finite_.data(), column_tile, true};
  }

  void count_specials(const T* row, const PlacedMatrix& tile, std::size_t r,
                      const BoxIndices& rows) {
    for (std::size_t c = 0; c < tile.columns; ++c) {
      if (std::isfinite(row[c])) continue;
      AxisCounts& counts = parts_.counts[output_[c]];
      if (std::isnan(row[c])) {
        ++counts.nan;
        std::uint64_t& first = parts_.first_nan[output_[c]];
        first = std::min(first, rows(tile.place(r, c) / outputs_));
      } else {
        ++(row[c] > 0 ? counts.positive_infinities : counts.negative_infinities);
      }
    }
  }

  /// Adds the columns' terms to their outputs' sums; returns false and leaves them where the levels
  /// are too few, or terms too large.
  template <class X>
  bool add_term(const FloatKernels<X>& kernels, const X* x, std::size_t stride,
                const PlacedMatrix& tile, Term term) {
    const int levels = levels_[index_of(term)];
    if (levels > max_levels) return false;
    const auto columns = kernels.column_sums[index_of(term)][levels - 1];
    clear_inexact();
    if (!columns(x, tile.rows, stride, tile.columns, column_sums_)) return false;
    if ((levels == 1 || all_kernels_.plain_behind) && inexact_raised()) return false;
    if (!std::all_of(column_sums_, column_sums_ + tile.columns, is_addend)) return false;
    for (int level = 0; level < levels; ++level)
      add_columns(column_sums_ + static_cast<std::size_t>(level) * column_tile, tile.columns, term);
    return true;
  }

  /// Adds a number for each column to the outputs' sums.
  void add_columns(double* column_sums, std::size_t columns, Term term) {
    OutputSums& sums = sums_of(term);
    const std::uint64_t first = output_[0];
    if (one_output_ && columns == run_columns && add_narrowed(column_sums, term)) return;
    if (columns > 1 && output_[1] == first + 1 && first + columns <= outputs_) {
      double* const parts[4] = {sums.part[0].data() + first, sums.part[1].data() + first,
                                sums.part[2].data() + first, sums.part[3].data() + first};
      if (all_kernels_.add_columns(column_sums, columns, parts)) return;
      for (std::size_t c = 0; c < columns; ++c) spill(output_[c], column_sums[c], term);
    } else {
      for (std::size_t c = 0; c < columns; ++c) add_to(output_[c], column_sums[c], term);
    }
  }

  /// Adds run_columns numbers that belong to one output, once they are down to a few that have the
  /// same sum; returns false where that fails.
  bool add_narrowed(const double* column_sums, Term term) {
    constexpr std::size_t narrow = 8;
    const int levels = levels_[index_of(term)];
    if (levels > max_levels) return false;
    clear_inexact();
    if (!all_kernels_.f64.column_sums[0][levels - 1](column_sums, run_columns / narrow, narrow,
                                                     narrow, narrowed_))
      return false;
    if ((levels == 1 || all_kernels_.plain_behind) && inexact_raised()) return false;
    for (std::size_t level = 0; level < static_cast<std::size_t>(levels); ++level)
      for (std::size_t c = 0; c < narrow; ++c)
        add_to(output_[0], narrowed_[level * column_tile + c], term);
    return true;
  }

  /// Adds an addend within bounds to an output's sum.
  void add_to(std::uint64_t output, double addend, Term term) {
    if (addend != 0.0) spill(output, sums_of(term).add(output, addend), term);
  }

  void spill(std::uint64_t output, double rest, Term term) {
    if (rest != 0.0) parts_.spills.add({output, rest, static_cast<AxisTerm>(term)});
  }

  template <class X>
  void add_one_by_one(const X* x, std::size_t stride, const PlacedMatrix& tile, Term term) {
    for (std::size_t r = 0; r < tile.rows; ++r)
      for (std::size_t c = 0; c < tile.columns; ++c)
        add_alone(static_cast<double>(x[r * stride + c]), output_[c], term);
  }

  void add_alone(double x, std::uint64_t output, Term term) {
    if (term == Term::square) {
      if (!is_root(x)) return parts_.spills.add({output, x, AxisTerm::root});
      const DoublePair square = square_of(x);
      add_to(output, square.high, term);
      add_to(output, square.low, term);
      return;
    }
    const double addend = term == Term::magnitude ? std::fabs(x) : x;
    if (is_addend(addend)) return add_to(output, addend, term);
    spill(output, addend, term);
  }

  /// Every so often, tries fewer levels again.
  void relax() {
    if (++tiles_ % 256 != 0) return;
    for (int& levels : levels_) levels = std::max(fewest_levels_, levels - 1);
  }

  void fold_integers(const T* x, const PlacedMatrix& tile) {
    if constexpr (!floating) {
      if (needs_.sum) add_integers(x, tile, kernels_.column_sums, Term::value);
      if (needs_.absolute) add_integers(x, tile, kernels_.column_magnitudes, Term::magnitude);
      if (needs_.squares) add_squares(x, tile);
    }
  }

  template <class X>
  void add_integers(const X* x, const PlacedMatrix& tile, IntegerColumnSums<X> columns, Term term) {
    columns(x, tile.rows, tile.stride, tile.columns, low_, high_);
    add_scaled(low_, tile.columns, 1.0, term);
    if (sizeof(X) == sizeof(double)) add_scaled(high_, tile.columns, 0x1p32, term);
  }

  void add_scaled(const std::int64_t* integers, std::size_t columns, double scale, Term term) {
    std::fill_n(column_sums_, columns + 8, 0.0);
    for (std::size_t c = 0; c < columns; ++c)
      column_sums_[c] = static_cast<double>(integers[c]) * scale;
    add_columns(column_sums_, columns, term);
  }

  /// Integers of up to 32 bits are doubles.
  void add_squares(const T* x, const PlacedMatrix& tile) {
    if constexpr (sizeof(T) < sizeof(double)) {
      widened_.resize(row_tile * column_tile);
      for (std::size_t r = 0; r < tile.rows; ++r)
        std::copy_n(x + r * tile.stride, tile.columns, widened_.data() + r * column_tile);
      while (!add_term(all_kernels_.f64, widened_.data(), column_tile, tile, Term::square))
        if (!expect_more_levels(Term::square))
          return add_one_by_one(widened_.data(), column_tile, tile, Term::square);
    } else {
      for (std::size_t r = 0; r < tile.rows; ++r)
        for (std::size_t c = 0; c < tile.columns; ++c)
          add_wide_square(x[r * tile.stride + c], output_[c]);
    }
  }

  void add_float(T x, std::uint64_t output) {
    const auto value = static_cast<double>(x);
    for (const Term term : {Term::value, Term::magnitude, Term::square})
      if (needs(term)) add_alone(value, output, term);
  }

  void add_integer(T x, std::uint64_t output) {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const auto adder = [this, output](Term term) {
      return [this, output, term](double part) { add_to(output, part, term); };
    };
    const std::uint64_t bits = value_bits(x);
    const std::uint64_t magnitude = x < T{0} ? std::uint64_t{0} - bits : bits;
    if (needs_.sum) split_integer(static_cast<Wide>(x), adder(Term::value));
    if (needs_.absolute) split_integer(magnitude, adder(Term::magnitude));
    if (needs_.squares) split_square(magnitude, adder(Term::square));
  }

  void add_wide_square(T x, std::uint64_t output) {
    const std::uint64_t bits = value_bits(x);
    split_square(x < T{0} ? std::uint64_t{0} - bits : bits,
                 [&](double part) { add_to(output, part, Term::square); });
  }

  void fold_extrema(const T* x, const PlacedMatrix& tile, const BoxIndices& rows) {
    using Limits = std::numeric_limits<T>;
    std::fill_n(least_, tile.columns, floating ? Limits::infinity() : Limits::max());
    std::fill_n(greatest_, tile.columns, floating ? -Limits::infinity() : Limits::lowest());
    kernels_.column_extrema(x, tile.rows, tile.stride, tile.columns, least_, greatest_);
    for (std::size_t c = 0; c < tile.columns; ++c) {
      merge_extremum(parts_.minimum[output_[c]], x, tile, c, rows, least_[c], 0);
      merge_extremum(parts_.maximum[output_[c]], x, tile, c, rows, greatest_[c], ~std::uint64_t{0});
    }
  }

  /// The row of a column's extremum is looked for only if the extremum counts.
  void merge_extremum(Extremum& best, const T* x, const PlacedMatrix& tile, std::size_t column,
                      const BoxIndices& rows, T value, std::uint64_t complement) {
    const std::uint64_t key = ordered_key(value) ^ complement;
    if (key > best.key) return;
    const auto index = [&](std::size_t r) { return rows(tile.place(r, column) / outputs_); };
    if (!Extremum{key, index(0), 0}.better_than(best)) return;
    for (std::size_t r = 0; r < tile.rows; ++r) {
      const T element = x[r * tile.stride + column];
      if (element == value) return best.merge({key, index(r), value_bits(element)});
    }
  }

  using KernelTable = std::remove_cvref_t<decltype(kernels_of<T>(std::declval<const Kernels&>()))>;

  const Kernels& all_kernels_;
  const KernelTable& kernels_;
  FoldNeeds needs_;
  std::uint64_t outputs_ = 1;
  AxisParts parts_;
  OutputSums sums_[column_terms];
  int fewest_levels_;
  int levels_[column_terms];
  std::uint64_t tiles_ = 0;
  bool expects_finite_ = true;
  std::vector<T> finite_;        ///< row_tile rows of column_tile
  std::vector<double> widened_;  ///< likewise
  bool one_output_ = false;      ///< all of a tile belongs to
  std::uint64_t output_[column_tile];
  std::int64_t low_[column_tile];
  std::int64_t high_[column_tile];
  T least_[column_tile];
  T greatest_[column_tile];
  alignas(64) double column_sums_[max_levels * column_tile];
  alignas(64) double narrowed_[max_levels * column_tile];
};

}  // namespace warpfold::cpu
