#include "cpu/products/weighted_reducer.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/numeric/exact_product.hpp"
#include "core/numeric/expansion.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/products/factor_terms.hpp"
#include "cpu/products/pooled_reducer.hpp"
#include "cpu/products/product_outputs.hpp"
#include "cpu/products/product_tiles.hpp"
#include "cpu/reduce/axis_value_reducer.hpp"

namespace warpfold::cpu {
namespace {

/// An array of doubles that is added to outputs where any of it is not zero.
struct Terms {
  Terms(const Kernels& kernels, AxisOutputs& outputs) : reducer(kernels, outputs) {}

  void resize(std::uint64_t n) {
    values.resize(n);
    any = false;
  }

  double* from(std::uint64_t place) { return values.data() + place; }

  PaddedDoubles values;
  bool any = false;
  AxisValueReducer<double> reducer;
};

template <class Value>
class WeightedReducer final : public AxisReducer {
 public:
  /// `floats` is the decoding that gives elements the floats of equal value, where there are such.
  WeightedReducer(const Kernels& kernels, ElementFormat format, const Decoding& decoding,
                  const Decoding& floats, ReduceNeeds needs, const Factors& factors)
      : kernels_(kernels),
        factors_(factors),
        values_(kernels, format, floats),
        outputs_(kernels, needs),
        pools_(kernels, format, decoding, factors, outputs_),
        tiles_(kernels, factors, outputs_),
        high_(kernels, outputs_.products),
        low_(kernels, outputs_.products),
        factor_(kernels, outputs_.weights) {
    for (int i = 0; i < square_terms; ++i) square_.emplace_back(kernels, outputs_.squares);
  }

  void begin(std::uint64_t outputs) override {
    outputs_.begin(outputs);
    pools_.begin();
  }

  AxisParts finish() override {
    pools_.finish();
    return outputs_.finish();
  }

  void reduce(const StagedChunks& slab, const std::byte* staging) override {
    if (factors_.rests == nullptr && pools_.reduce(slab, staging)) return;
    for (AxisValueReducer<double>* reducer : reducers())
      reducer->set_rows(slab.indices_of_extrema());
    outputs_.products.count_places(slab.target.elements);
    for (const StagedChunk& chunk : slab.chunks) {
      const ChunkElements elements = values_.elements_of(slab, chunk, staging);
      const ChunkAxes axes(slab.grid, slab.target, chunk.number);
      const bool in_lines = factors_.rests == nullptr && axes.within(slab.target.elements) &&
                            axes.size() > 0 && axes[axes.size() - 1].source == 1;
      if (in_lines)
        reduce_chunk(elements, slab, axes);
      else
        reduce_rows(elements, slab.indices, ChunkRows(slab.grid, slab.target, chunk.number));
    }
  }

 private:
  static constexpr int square_terms = 4;
  static constexpr std::uint64_t tile_elements = std::uint64_t{1} << 13;
  static constexpr bool may_be_wide = std::is_integral_v<Value> && sizeof(Value) == sizeof(double);

  /// Values as the kernels take them.
  using Widened = std::conditional_t<std::is_floating_point_v<Value>, Value, double>;

  std::vector<AxisValueReducer<double>*> reducers() {
    std::vector<AxisValueReducer<double>*> all{&high_.reducer, &low_.reducer, &factor_.reducer};
    for (Terms& terms : square_) all.push_back(&terms.reducer);
    return all;
  }

  void reduce_chunk(const ChunkElements& elements, const StagedChunks& slab,
                    const ChunkAxes& axes) {
    const BoxIndices& box = slab.indices;
    const std::uint64_t consecutive = box.dimensions > 0 ? box.extent[box.dimensions - 1] : 1;
    tiles_.for_each_tile(axes.in_rows(consecutive), [&](const ChunkAxes& matrix) {
      if (reduce_usual(elements, slab.indices, matrix)) return;
      high_.reducer.for_each_tile(matrix, tile_elements, [&](const ChunkAxes& tile) {
        if (!reduce_tile(elements, slab.indices, tile)) reduce_lines(elements, slab, tile);
      });
    });
  }

  /// Reduces a matrix at once; or returns false, and does nothing, where elements or factors need
  /// more than their products' sum.
  bool reduce_usual(const ChunkElements& elements, const BoxIndices& indices,
                    const ChunkAxes& matrix) {
    if constexpr (std::is_floating_point_v<Value>) {
      if (!outputs_.needs.sum || outputs_.needs.squares) return false;
      if (const Value* const x = values_.in_place(elements))
        return tiles_.reduce(x, matrix, indices);
      return tiles_.reduce(values_.packed({&elements, 1}, 0, matrix, indices), matrix.packed(),
                           indices);
    } else {
      return false;
    }
  }

  /// Reduces a tile of a chunk at once; or returns false, and does nothing, where single products
  /// need care.
  bool reduce_tile(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkAxes& tile) {
    resize_terms(tile.elements());
    std::uint64_t done = 0;
    bool exact = true;
    for_each_line(tile, indices, [&](std::uint64_t source, std::uint64_t n, std::uint64_t index) {
      if (!exact) return;
      const Widened* const x = take_values(elements, source, n, {BoxIndices{index}, 0});
      copy_factors(factors_, index, n, factor_.from(done));
      exact = wide_.empty() && multiply(x, n, done);
      done += n;
    });
    if (!exact) return false;
    const ChunkAxes packed = tile.packed();
    add([&](Terms& terms) { terms.reducer.reduce(terms.values.data(), packed); });
    return true;
  }

  /// Does it element by element.
  void reduce_lines(const ChunkElements& elements, const StagedChunks& slab,
                    const ChunkAxes& axes) {
    axes.for_each_beside({}, [&](std::uint64_t source, std::uint64_t target) {
      reduce_run(elements, source, 1, slab.indices, target);
    });
  }

  void reduce_rows(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements)
        reduce_run(elements, row.source + done,
                   std::min<std::uint64_t>(block_elements, row.elements - done), indices,
                   row.target + done);
    });
  }

  /// Reduces `n` elements of consecutive places.
  void reduce_run(const ChunkElements& elements, std::uint64_t source, std::uint64_t n,
                  const BoxIndices& indices, std::uint64_t place) {
    const Widened* const x = take_values(elements, source, n, {indices, place});
    resize_terms(n);
    copy_factors(factors_, indices, place, n, factor_.from(0));
    for (const auto& [i, value] : wide_) {
      const double factor = factor_.values[i];
      if (!std::isfinite(factor)) continue;
      add_wide(value, factor, place + i);
      x_[i] = 0.0;
    }
    if (!multiply(x, n, 0)) add_inexact_products(x, n, place);
    if (factors_.rests != nullptr) add_rests(x, n, indices, place);
    add([&](Terms& terms) { terms.reducer.reduce_run(terms.values.data(), n, place); });
  }

  /// Adds what elements are multiplied by beyond their doubles.
  void add_rests(const Widened* x, std::uint64_t n, const BoxIndices& indices,
                 std::uint64_t place) {
    copy_factors(factors_.of_rests(), indices, place, n, factor_rest_.resize(n));
    for (const auto& [i, value] : wide_)
      if (factor_rest_[i] != 0.0) add_wide(value, factor_rest_[i], place + i);
    for (std::uint64_t i = 0; i < n; ++i) {
      const double rest = factor_rest_[i];
      const auto value = static_cast<double>(x[i]);
      if (rest == 0.0 || is_left_out_mark(high_.values[i]) || std::isnan(value)) continue;
      const std::uint64_t output = (place + i) % outputs_.products.outputs();
      if (outputs_.needs.absolute) outputs_.spills().add_magnitude(output, 1.0, rest);
      if (!std::isfinite(value) || value == 0.0) continue;
      outputs_.spills().add_product(output, value, rest);
      if (outputs_.needs.squares) outputs_.spills().add_weighted_square(output, value, rest);
    }
  }

  /// Returns the values, of which those that are left out have the mark of their type, and lists
  /// integers that no double is.
  const Widened* take_values(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                             const ElementIndices& indices) {
    wide_.clear();
    if constexpr (std::is_floating_point_v<Value>) {
      return values_.values(elements, first, n, indices);
    } else {
      x_.resize(n);
      std::fill_n(x_.data(), n, left_out_mark<double>);
      values_.for_each_counted(elements, first, n, indices, [&](Value value, std::uint64_t i) {
        x_[i] = take_integer(value, i);
      });
      return x_.data();
    }
  }

  double take_integer(Value value, std::uint64_t i) {
    if (!fits_double(value)) wide_.emplace_back(i, value);
    return widened(value);
  }

  /// Makes room for the terms of `n` elements.
  void resize_terms(std::uint64_t n) {
    high_.resize(n);
    low_.resize(n);
    factor_.resize(n);
    if (outputs_.needs.squares)
      for (Terms& terms : square_) terms.resize(n);
    high_.any = true;  // also for what it counts
    factor_.any = outputs_.needs.absolute;
  }

  /// Multiplies values by factors, for the terms from number `at` on. Returns whether all are
  /// exact.
  bool multiply(const Widened* x, std::uint64_t n, std::uint64_t at) {
    const bool marked = std::is_same_v<Widened, Value> ? values_.marks_left_out() : true;
    const ProductKinds kinds = kernels_of<Widened>(kernels_).multiply(
        x, n, {marked, factors_.are_weights}, {high_.from(at), low_.from(at), factor_.from(at)});
    low_.any |= kinds.rest && outputs_.needs.sum;
    return (!outputs_.needs.squares || multiply_squares(x, n, at)) && !kinds.inexact;
  }

  /// Multiplies squares by weights. Returns whether all products are exact.
  bool multiply_squares(const Widened* x, std::uint64_t n, std::uint64_t at) {
    finite_.resize(n);
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[i]);
      finite_[i] = std::isfinite(value) && !is_left_out_mark(high_.values[at + i]) ? value : 0.0;
    }
    double* const square = square_[2].from(at);
    double* const error = square_[3].from(at);
    const ProductKinds squares =
        kernels_.products(finite_.data(), finite_.data(), n, square, error);
    const double* const weights = factor_.from(at);
    const ProductKinds kinds =
        kernels_.products(square, weights, n, square_[0].from(at), square_[1].from(at));
    std::copy_n(error, n, rest_.resize(n));
    const ProductKinds rests = kernels_.products(rest_.data(), weights, n, square, error);
    square_[0].any = true;
    square_[1].any |= kinds.rest;
    square_[2].any |= squares.rest;
    square_[3].any |= rests.rest;
    return !squares.inexact && !kinds.inexact && !rests.inexact;
  }

  /// Calls take(terms) for all terms that are to be added.
  template <class Take>
  void add(const Take& take) {
    for (Terms* terms : {&high_, &low_, &factor_})
      if (terms->any) take(*terms);
    for (Terms& terms : square_)
      if (terms.any) take(terms);
  }

  /// Adds products that two doubles don't hold by themselves.
  void add_inexact_products(const Widened* x, std::uint64_t n, std::uint64_t place) {
    for (std::uint64_t i = 0; i < n; ++i) {
      const auto value = static_cast<double>(x[i]);
      const double factor = factor_.values[i];
      if (is_left_out_mark(high_.values[i]) || !std::isfinite(value) || !std::isfinite(factor))
        continue;
      const std::uint64_t output = (place + i) % outputs_.products.outputs();
      if (outputs_.needs.squares && !is_exact_square(value, factor)) {
        for (Terms& terms : square_) terms.values[i] = 0.0;
        outputs_.spills().add_weighted_square(output, value, factor);
      }
      if (is_exact_product(value, factor)) continue;
      high_.values[i] = low_.values[i] = 0.0;
      outputs_.spills().add_product(output, value, factor);
    }
  }

  static bool is_exact_square(double x, double weight) {
    const DoublePair square = product_of(x, x);
    return is_exact_product(x, x) && is_exact_product(square.high, weight) &&
           is_exact_product(square.low, weight);
  }

  void add_wide(Value value, double factor, std::uint64_t place) {
    if (is_left_out_mark(factor) || (factors_.are_weights && factor == 0.0)) return;
    if constexpr (may_be_wide) {
      const std::uint64_t output = place % outputs_.products.outputs();
      split_integer(value,
                    [&](double part) { outputs_.spills().add_product(output, part, factor); });
      if (outputs_.needs.squares)
        outputs_.spills().add_weighted_square(output, int128{value}, factor);
    }
  }

  const Kernels& kernels_;
  Factors factors_;
  ChunkValues<Value> values_;
  ProductOutputs outputs_;
  PooledReducer pools_;
  ProductTiles<Widened> tiles_;
  PaddedDoubles x_;
  PaddedDoubles finite_;
  PaddedDoubles rest_;
  PaddedDoubles factor_rest_;
  Terms high_;
  Terms low_;
  Terms factor_;
  std::deque<Terms> square_;
  std::vector<std::pair<std::uint64_t, Value>> wide_;
};

}  // namespace

std::unique_ptr<AxisReducer> make_weighted_reducer(const Kernels& kernels, ElementFormat format,
                                                   const Decoding& decoding, ReduceNeeds needs,
                                                   const Factors& factors) {
  const Decoding floats = as_floats(decoding, format.type).value_or(decoding);
  return visit_value_type(format.type, floats, [&](auto value) -> std::unique_ptr<AxisReducer> {
    return std::make_unique<WeightedReducer<decltype(value)>>(kernels, format, decoding, floats,
                                                              needs, factors);
  });
}

}  // namespace warpfold::cpu
