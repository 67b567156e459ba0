#include "cpu/reduce/weighted_reducer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <deque>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/numeric/expansion.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/reduce/axis_fold.hpp"
#include "cpu/reduce/factor_terms.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cpu {
namespace {

/// An array of doubles that is added to outputs where any of it is not zero.
struct Terms {
  Terms(const Kernels& kernels, AxisOutputs& outputs) : fold(kernels, outputs) {}

  PaddedDoubles values;
  bool any = false;
  AxisFold<double> fold;
};

template <class Stored, class Value>
class WeightedReducer final : public AxisReducer {
 public:
  WeightedReducer(const Kernels& kernels, ByteOrder order, const Decoding& decoding,
                  ReduceNeeds needs, const Factors& factors)
      : kernels_(kernels),
        factors_(factors),
        needs_(needs),
        masks_(!decoding.mask.selects_all()),
        takes_all_(decoding.selects_all()),
        values_(kernels, order, decoding),
        products_(kernels, {.sum = needs.sum}, true),
        weights_(kernels, {.absolute = needs.absolute}, false),
        squares_(kernels, {.sum = needs.squares}, false),
        high_(kernels, products_),
        low_(kernels, products_),
        weight_(kernels, weights_) {
    for (int i = 0; i < square_terms; ++i) square_.emplace_back(kernels, squares_);
  }

  void begin(std::uint64_t outputs) override {
    products_.begin(outputs);
    weights_.begin(outputs);
    squares_.begin(outputs);
  }

  AxisParts finish() override {
    AxisParts parts = products_.finish();
    AxisParts weights = weights_.finish();
    AxisParts squares = squares_.finish();
    if (needs_.absolute) parts.absolute = std::move(weights.absolute);
    parts.spills.merge(weights.spills, {});
    if (needs_.squares) parts.squares = std::move(squares.sum);
    parts.spills.add_to_squares(squares.spills);
    return parts;
  }

  void reduce(const StagedChunks& slab, const std::byte* staging, const BoxIndices& rows) override {
    for (AxisFold<double>* fold : folds()) fold->set_rows(rows);
    products_.count_places(slab.target.elements);
    for (const StagedChunk& chunk : slab.chunks) {
      const ChunkElements elements(kernels_, sizeof(Stored), slab, chunk, staging);
      const ChunkAxes axes(slab.grid, slab.target, chunk.number);
      const bool whole = axes.within(slab.target.elements) &&
                         slab.grid.chunk_elements() <= 2 * slab.target.elements && !masks_ &&
                         axes.size() > 0 && axes[axes.size() - 1].source == 1;
      if (whole)
        axes.for_each_part(block_elements, [&](const ChunkAxes& part) {
          if (!reduce_part(elements, slab, part)) reduce_lines(elements, slab, part);
        });
      else
        reduce_rows(elements, slab.indices, ChunkRows(slab.grid, slab.target, chunk.number));
    }
  }

 private:
  static constexpr int square_terms = 4;
  static constexpr bool may_be_wide = std::is_integral_v<Value> && sizeof(Value) == sizeof(double);

  std::vector<AxisFold<double>*> folds() {
    std::vector<AxisFold<double>*> all{&high_.fold, &low_.fold, &weight_.fold};
    for (Terms& terms : square_) all.push_back(&terms.fold);
    return all;
  }

  /// Reduces a part of a chunk at once; or returns false, and does nothing, where single products
  /// need care.
  bool reduce_part(const ChunkElements& elements, const StagedChunks& slab, const ChunkAxes& axes) {
    const std::uint64_t first = axes.first_source();
    const std::uint64_t n = axes.span();
    take_values(elements, first, n, {slab.indices, 0});
    if (!wide_.empty()) return false;
    std::fill_n(factor_.resize(n), n, 0.0);
    const int inner = axes.size() - 1;
    axes.for_each_beside({inner}, [&](std::uint64_t source, std::uint64_t target) {
      copy_line(slab.indices, target, axes[inner], factor_.data() + (source - first));
    });
    if (multiply(n).inexact) return false;
    add([&](Terms& terms) { terms.fold.reduce(terms.values.data() - first, axes); });
    return true;
  }

  /// Does it element by element.
  void reduce_lines(const ChunkElements& elements, const StagedChunks& slab,
                    const ChunkAxes& axes) {
    axes.for_each_beside({}, [&](std::uint64_t source, std::uint64_t target) {
      take_values(elements, source, 1, {slab.indices, target});
      copy_factors(factors_, slab.indices, target, 1, factor_.resize(1));
      reduce_run(1, target);
    });
  }

  void copy_line(const BoxIndices& indices, std::uint64_t place, const ChunkAxis& line,
                 double* to) const {
    if (line.target == 1) return copy_factors(factors_, indices, place, line.count, to);
    const std::uint64_t first = indices(place);
    const std::uint64_t last = indices(place + (line.count - 1) * line.target);
    if (last - first == line.count - 1) return copy_factors(factors_, first, line.count, to);
    for (std::uint64_t i = 0; i < line.count; ++i)
      copy_factors(factors_, indices(place + i * line.target), 1, to + i);
  }

  void reduce_rows(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
        const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
        const std::uint64_t place = row.target + done;
        take_values(elements, row.source + done, n, {indices, place});
        copy_factors(factors_, indices, place, n, factor_.resize(n));
        reduce_run(n, place);
      }
    });
  }

  void reduce_run(std::uint64_t n, std::uint64_t place) {
    for (const auto& [i, value] : wide_) add_wide(value, factor_[i], place + i);
    if (multiply(n).inexact) mend(n, place);
    add([&](Terms& terms) { terms.fold.reduce_run(terms.values.data(), n, place); });
  }

  /// Takes values as doubles, marks those that are left out, and lists integers that no double is.
  void take_values(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                   const ElementIndices& indices) {
    wide_.clear();
    double* const x = x_.resize(n);
    if (takes_all_ && !may_be_wide) {
      // No other type's NaN is the one that marks.
      const Value* values = values_.values(elements, first, n, indices);
      for (std::uint64_t i = 0; i < n; ++i) {
        x[i] = widened(values[i]);
        if constexpr (std::is_same_v<Value, double>)
          x[i] = x[i] == x[i] ? x[i] : std::numeric_limits<double>::quiet_NaN();
      }
      return;
    }
    std::fill_n(x, n, left_out_mark<double>);
    values_.for_each_counted(elements, first, n, indices, [&](Value value, std::uint64_t i) {
      const double wide = widened(value);
      if constexpr (may_be_wide) {
        constexpr auto exact = Value{1} << std::numeric_limits<double>::digits;
        bool is_exact = value <= exact;
        if constexpr (std::is_signed_v<Value>) is_exact = is_exact && value >= -exact;
        if (!is_exact) {
          wide_.emplace_back(i, value);
          x[i] = 0.0;
          return;
        }
      }
      x[i] = wide == wide ? wide : std::numeric_limits<double>::quiet_NaN();
    });
  }

  /// Tells whether any element may have to be left out, as far as factors tell.
  bool any_left_out(std::uint64_t n) {
    if (!takes_all_) return true;
    const double* const factors = factor_.data();
    std::int64_t others = 0;
    if (factors_.are_weights)
      for (std::uint64_t i = 0; i < n; ++i) others += factors[i] > 0.0 ? 0 : 1;
    else
      for (std::uint64_t i = 0; i < n; ++i) others += factors[i] == factors[i] ? 0 : 1;
    return others != 0;
  }

  bool is_left_out(double factor) const {
    return is_left_out_mark(factor) || (factors_.are_weights && factor == 0.0);
  }

  void leave_out(std::uint64_t n) {
    for (std::uint64_t i = 0; i < n; ++i) {
      if (!is_left_out_mark(x_[i]) && !is_left_out(factor_[i])) continue;
      left_out_.push_back(i);
      x_[i] = factor_[i] = 0.0;
    }
  }

  /// Multiplies values by factors: the products are high_ + low_, those left out are marked.
  ProductKinds multiply(std::uint64_t n) {
    left_out_.clear();
    if (any_left_out(n)) leave_out(n);
    weight_.any = needs_.absolute;
    if (weight_.any) {
      double* __restrict const weights = weight_.values.resize(n);
      const double* __restrict const x = x_.data();
      const double* __restrict const factors = factor_.data();
      for (std::uint64_t i = 0; i < n; ++i) weights[i] = x[i] == x[i] ? factors[i] : 0.0;
    }
    const ProductKinds kinds = kernels_.products(x_.data(), factor_.data(), n,
                                                 high_.values.resize(n), low_.values.resize(n));
    low_.any = kinds.rest;
    const bool inexact_squares = needs_.squares && !multiply_squares(n);
    for (const std::uint64_t i : left_out_) high_.values[i] = left_out_mark<double>;
    return {kinds.inexact || inexact_squares, kinds.rest};
  }

  /// Multiplies squares by factors; returns false where not all are exact.
  bool multiply_squares(std::uint64_t n) {
    PaddedDoubles& square = square_[2].values;
    PaddedDoubles& error = square_[3].values;
    const ProductKinds squares =
        kernels_.products(x_.data(), x_.data(), n, square.resize(n), error.resize(n));
    PaddedDoubles& high = square_[0].values;
    PaddedDoubles& low = square_[1].values;
    const ProductKinds kinds =
        kernels_.products(square.data(), factor_.data(), n, high.resize(n), low.resize(n));
    ProductKinds rests{false, false};
    if (squares.rest) {
      std::copy_n(error.data(), n, rest_.resize(n));
      rests = kernels_.products(rest_.data(), factor_.data(), n, square.data(), error.data());
    }
    square_[0].any = true;
    square_[1].any = kinds.rest;
    square_[2].any = squares.rest;
    square_[3].any = squares.rest && rests.rest;
    return !squares.inexact && !kinds.inexact && !rests.inexact;
  }

  /// Calls take(terms) for all terms that are to be added.
  template <class Take>
  void add(const Take& take) {
    take(high_);  // also for what it counts
    if (needs_.sum && low_.any) take(low_);
    if (weight_.any) take(weight_);
    if (!needs_.squares) return;
    for (Terms& terms : square_)
      if (terms.any) take(terms);
  }

  /// Adds products that two doubles don't hold by themselves, and sees to what is not finite.
  void mend(std::uint64_t n, std::uint64_t place) {
    for (std::uint64_t i = 0; i < n; ++i) {
      if (is_left_out_mark(high_.values[i])) continue;
      const double x = x_[i];
      const double factor = factor_[i];
      if (!std::isfinite(x) || !std::isfinite(factor)) {
        const double product = x * factor;
        high_.values[i] = product == product ? product : std::numeric_limits<double>::quiet_NaN();
        low_.values[i] = 0.0;
        if (needs_.squares)
          for (Terms& terms : square_) terms.values[i] = 0.0;
        continue;
      }
      if (needs_.squares) require_exact_square(x, factor);
      if (is_exact_product(x, factor)) continue;
      high_.values[i] = low_.values[i] = 0.0;
      products_.parts().spills.add_product((place + i) % products_.outputs(), x, factor);
    }
  }

  /// Tells what the kernel tells of a single product.
  static bool is_exact_product(double a, double b) {
    const double size = std::fabs(a * b);
    return std::fabs(a) <= largest_factor && std::fabs(b) <= largest_factor &&
           size <= largest_product && (size >= least_product || a == 0.0 || b == 0.0);
  }

  static void require_exact_square(double x, double weight) {
    const double square = x * x;
    if (!is_exact_product(x, x) || !is_exact_product(square, weight) ||
        !is_exact_product(std::fma(x, x, -square), weight))
      throw_inexact_square(
          "a value's square, or its product with the weight, is too large or small");
  }

  [[noreturn]] static void throw_inexact_square(const std::string& why) {
    throw Error("the variance of weighted elements can't be exact", why,
                "Ask for sums and means alone, or scale values and weights.");
  }

  void add_wide(Value value, double factor, std::uint64_t place) {
    if (is_left_out(factor)) return;
    if (needs_.squares) throw_inexact_square("an integer has more than 53 bits");
    if constexpr (may_be_wide)
      split_integer(value, [&](double part) {
        products_.parts().spills.add_product(place % products_.outputs(), part, factor);
      });
  }

  const Kernels& kernels_;
  Factors factors_;
  ReduceNeeds needs_;
  bool masks_;
  bool takes_all_;
  ChunkValues<Stored, Value> values_;
  AxisOutputs products_;
  AxisOutputs weights_;
  AxisOutputs squares_;
  PaddedDoubles x_;
  PaddedDoubles factor_;
  PaddedDoubles rest_;
  Terms high_;
  Terms low_;
  Terms weight_;
  std::deque<Terms> square_;
  std::vector<std::uint64_t> left_out_;
  std::vector<std::pair<std::uint64_t, Value>> wide_;
};

}  // namespace

std::unique_ptr<AxisReducer> make_weighted_reducer(const Kernels& kernels, ElementFormat format,
                                                   const Decoding& decoding, ReduceNeeds needs,
                                                   const Factors& factors) {
  return visit_value_type(
      format.type, decoding, [&](auto stored, auto value) -> std::unique_ptr<AxisReducer> {
        return std::make_unique<WeightedReducer<decltype(stored), decltype(value)>>(
            kernels, format.order, decoding, needs, factors);
      });
}

}  // namespace warpfold::cpu
