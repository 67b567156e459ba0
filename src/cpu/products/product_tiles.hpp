#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/layout/partition.hpp"
#include "core/values/factors.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/products/product_outputs.hpp"
#include "cpu/reduce/finite_terms.hpp"

namespace warpfold::cpu {

/// One thread's sums of products of tiles, and of their factors, where elements and factors are
/// finite and of usual size: by kernels that keep no product.
template <class T>
class ProductTiles {
 public:
  ProductTiles(const Kernels& kernels, const Factors& factors, ProductOutputs& outputs)
      : kernels_(kernels), factors_(factors), outputs_(outputs), levels_(kernels) {}

  /// Calls body(tile) for tiles of which each is a matrix.
  template <class Body>
  void for_each_tile(const ChunkAxes& axes, Body&& body) const {
    const ChunkAxes rows = axes.in_rows(outputs_.products.outputs());
    rows.for_each_tile(tile_counts(rows), body);
  }

  /// Adds the products of a tile, whose indices at the target are `indices`; or returns false and
  /// does nothing.
  bool reduce(const T* x, const ChunkAxes& tile, const BoxIndices& indices) {
    const std::optional<Matrix> matrix = matrix_of(x, tile, indices);
    if (!matrix || !add_products(*matrix) || !add_factors(*matrix)) return false;
    const std::size_t n = matrix->in_lines ? matrix->rows : matrix->columns;
    outputs_.products.add_side_by_side(matrix->output, sums_, n, levels_.of(of_products),
                                       Term::value);
    if (outputs_.needs.absolute)
      outputs_.weights.add_side_by_side(matrix->output, factor_sums_, n, factor_levels_,
                                        Term::value);
    levels_.relax();
    return true;
  }

 private:
  static constexpr Term of_products = Term::value;
  static constexpr Term of_factors = Term::magnitude;
  static constexpr std::uint64_t line_elements = std::uint64_t{1} << 12;

  /// Rows of elements, of one output each (lines) or of the outputs from `output` on.
  struct Matrix {
    const T* x;
    std::size_t rows;
    std::size_t columns;
    std::size_t stride;
    std::uint64_t output;
    bool in_lines;
    bool factor_of_row;
    FactorRows factors;
  };

  /// The sums of lines' factors, which come again where other dimensions have the same.
  struct LineFactors {
    static std::size_t slot(const double* first) {
      return reinterpret_cast<std::uintptr_t>(first) / sizeof(double) / 8 % slots;
    }

    bool are_of(const Matrix& matrix) const {
      return first == matrix.factors.first && stride == matrix.factors.stride &&
             rows == matrix.rows && columns == matrix.columns;
    }

    void keep(const Matrix& matrix, const double* from, int used) {
      first = matrix.factors.first;
      stride = matrix.factors.stride;
      rows = matrix.rows;
      columns = matrix.columns;
      levels = used;
      sums.resize(static_cast<std::size_t>(levels) * padded_rows());
      for (std::size_t l = 0; l < static_cast<std::size_t>(levels); ++l)
        std::copy_n(from + l * column_tile, padded_rows(), sums.data() + l * padded_rows());
    }

    void copy_to(double* to) const {
      for (std::size_t l = 0; l < static_cast<std::size_t>(levels); ++l)
        std::copy_n(sums.data() + l * padded_rows(), padded_rows(), to + l * column_tile);
    }

    std::size_t padded_rows() const { return round_up(rows, vector_columns); }

    static constexpr std::size_t slots = 1021;

    const double* first = nullptr;
    std::ptrdiff_t stride = 0;
    std::size_t rows = 0;
    std::size_t columns = 0;
    int levels = 0;
    std::vector<double> sums;
  };

  bool is_reduced(const ChunkAxis& axis) const {
    return axis.target % outputs_.products.outputs() == 0;
  }

  /// Returns the axis that a matrix has beside the innermost one; -1 where there is none.
  int row_axis(const ChunkAxes& axes) const {
    const int inner = axes.size() - 1;
    const bool in_lines = is_reduced(axes[inner]);
    int longest = -1;
    for (int i = 0; i < inner; ++i) {
      const bool suits =
          in_lines ? axes[i].target == 1 && !is_reduced(axes[i]) : is_reduced(axes[i]);
      if (suits && (longest < 0 || axes[i].count > axes[longest].count)) longest = i;
    }
    return longest;
  }

  std::array<std::uint64_t, max_dimensions> tile_counts(const ChunkAxes& axes) const {
    std::array<std::uint64_t, max_dimensions> counts;
    counts.fill(1);
    const auto inner = static_cast<std::size_t>(axes.size() - 1);
    const bool in_lines = is_reduced(axes[axes.size() - 1]);
    counts[inner] = in_lines ? line_elements : column_tile;
    if (const int row = row_axis(axes); row >= 0)
      counts[static_cast<std::size_t>(row)] =
          in_lines ? std::clamp<std::uint64_t>(line_elements / axes[axes.size() - 1].count, 8,
                                               column_tile)
                   : row_tile;
    return counts;
  }

  std::optional<Matrix> matrix_of(const T* x, const ChunkAxes& tile,
                                  const BoxIndices& indices) const {
    const ChunkAxis inner = tile[tile.size() - 1];
    const int other = row_axis(tile);
    const ChunkAxis row = other < 0 ? ChunkAxis{} : tile[other];
    Matrix matrix = {.x = x + tile.first_source(),
                     .rows = row.count,
                     .columns = inner.count,
                     .stride = row.source,
                     .output = tile.first_target() % outputs_.products.outputs(),
                     .in_lines = is_reduced(inner),
                     .factor_of_row = false,
                     .factors = {}};
    const std::size_t outputs = matrix.in_lines ? matrix.rows : matrix.columns;
    if (!matrix.in_lines && inner.target != 1) return std::nullopt;
    if (matrix.output + outputs > outputs_.products.outputs()) return std::nullopt;
    for (std::uint64_t r = 0; r < row.count; ++r)
      if (!take_factors(matrix, r, tile.first_target() + r * row.target, inner, indices))
        return std::nullopt;
    return matrix;
  }

  /// Takes the factors of row number r, whose first element is at a place; or returns false where
  /// they don't lie as those of the rows before.
  bool take_factors(Matrix& matrix, std::uint64_t r, std::uint64_t place, const ChunkAxis& inner,
                    const BoxIndices& indices) const {
    const std::uint64_t first = indices(place);
    const std::uint64_t last = indices(place + (inner.count - 1) * inner.target);
    if (last - first != inner.count - 1) return false;
    const std::uint64_t number = first / factors_.stride % factors_.period;
    const std::uint64_t behind = last / factors_.stride % factors_.period;
    const bool of_row = factors_.stride > 1 && first / factors_.stride == last / factors_.stride;
    const bool side_by_side = factors_.stride == 1 && behind - number == inner.count - 1;
    if (matrix.in_lines || inner.count == 1 ? !side_by_side : !of_row && !side_by_side)
      return false;
    const double* const factors = factors_.values + number;
    if (r == 0) {
      matrix.factors.first = factors;
      matrix.factor_of_row = of_row;
      return true;
    }
    const std::ptrdiff_t distance = factors - matrix.factors.first;
    if (r == 1) matrix.factors.stride = distance;
    return distance >= 0 && of_row == matrix.factor_of_row &&
           distance == static_cast<std::ptrdiff_t>(r) * matrix.factors.stride;
  }

  bool add_products(const Matrix& matrix) {
    const FloatKernels<T>& kernels = kernels_of<T>(kernels_);
    const auto& sums = matrix.in_lines ? kernels.line_products
                                       : kernels.column_products[matrix.factor_of_row ? 1 : 0];
    bool known_usual = !expects_usual_;
    if (known_usual && !(expects_usual_ = is_usual(matrix))) return false;
    while (!levels_.exact(of_products, [&](std::size_t level) {
      return sums[level](matrix.x, matrix.rows, matrix.stride, matrix.columns, matrix.factors,
                         sums_);
    })) {
      if (!known_usual && !(known_usual = expects_usual_ = is_usual(matrix))) return false;
      if (!levels_.expect_more(of_products)) return false;
    }
    return true;
  }

  bool is_usual(const Matrix& matrix) const {
    const std::size_t of_a_row = matrix.factor_of_row ? 1 : matrix.columns;
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      const double* const factors =
          matrix.factors.first + static_cast<std::ptrdiff_t>(r) * matrix.factors.stride;
      if (!std::all_of(factors, factors + of_a_row, is_usual_factor)) return false;
    }
    return kernels_of<T>(kernels_).all_finite(matrix.x, matrix.rows, matrix.stride, matrix.columns);
  }

  static bool is_usual_factor(double factor) {
    return std::fabs(factor) >= least_usual_factor && std::fabs(factor) <= largest_usual_factor;
  }

  /// Sums the factors of each output.
  bool add_factors(const Matrix& matrix) {
    if (!outputs_.needs.absolute) return true;
    LineFactors& known = known_[matrix.in_lines ? LineFactors::slot(matrix.factors.first) : 0];
    if (matrix.in_lines && known.are_of(matrix)) {
      factor_levels_ = known.levels;
      known.copy_to(factor_sums_);
      return true;
    }
    if (!sum_factors(matrix)) return false;
    factor_levels_ = levels_.of(of_factors);
    if (matrix.in_lines) known.keep(matrix, factor_sums_, factor_levels_);
    return true;
  }

  bool sum_factors(const Matrix& matrix) {
    const auto& sums = matrix.in_lines ? kernels_.f64.line_sums[0] : kernels_.f64.column_sums[0];
    const std::size_t columns = matrix.factor_of_row ? 1 : matrix.columns;
    const auto stride = static_cast<std::size_t>(matrix.factors.stride);
    while (!levels_.exact(of_factors, [&](std::size_t level) {
      return sums[level](matrix.factors.first, matrix.rows, stride, columns, factor_sums_);
    }))
      if (!levels_.expect_more(of_factors)) return false;
    if (matrix.factor_of_row) repeat_factor_sum(matrix.columns);
    return true;
  }

  /// Gives all columns what the first one has, and none to those that fill up the last vector.
  void repeat_factor_sum(std::size_t columns) {
    for (int level = 0; level < levels_.of(of_factors); ++level) {
      double* const of_level = factor_sums_ + static_cast<std::size_t>(level) * column_tile;
      std::fill_n(of_level + 1, columns - 1, *of_level);
      std::fill(of_level + columns, of_level + round_up(columns, vector_columns), 0.0);
    }
  }

  const Kernels& kernels_;
  Factors factors_;
  ProductOutputs& outputs_;
  SumLevels levels_;
  bool expects_usual_ = true;
  alignas(64) double sums_[max_levels * column_tile];
  alignas(64) double factor_sums_[max_levels * column_tile];
  int factor_levels_ = 0;
  std::vector<LineFactors> known_ = std::vector<LineFactors>(LineFactors::slots);
};

}  // namespace warpfold::cpu
