#pragma once

#include <cmath>
#include <cstdint>

#include "core/numeric/exact_product.hpp"
#include "core/numeric/expansion.hpp"
#include "core/results/axis_parts.hpp"
#include "cuda/axis/axis_reduce.hpp"

namespace warpfold::cuda::kernels {

/// Variants of the kernels: sums and extrema, which most commands need, elements that have factors,
/// and any needs.
enum class ReduceKind { sum, extrema, products, any };

/// One thread's way to the list of spills.
class Spiller {
 public:
  __device__ explicit Spiller(const AxisReduce& reduce)
      : spills_(reduce.spills), status_(reduce.status), full_at_(axis_spill_limit(reduce.needs)) {}

  __device__ void begin(std::uint64_t output) { output_ = output; }

  /// Nothing where the addend is 0.
  __device__ void operator()(AxisTerm term, double addend) {
    if (addend == 0.0) return;
    spills_[atomicAdd(&status_->spilled, 1ull)] = {output_, addend, term};
    unsure_ = true;
  }

  /// Leaves two spills, one behind the other.
  __device__ void operator()(AxisTerm term, double number, double factor) {
    const unsigned long long first = atomicAdd(&status_->spilled, 2ull);
    spills_[first] = {output_, number, term};
    spills_[first + 1] = {output_, factor, term};
    unsure_ = true;
  }

  /// Returns whether there may be no room for what the next element leaves. Looks only where this
  /// thread has spilled since it last did: hence each leaves at most one element's spills in a full
  /// list.
  __device__ bool full() {
    if (!unsure_) return false;
    unsure_ = *static_cast<volatile unsigned long long*>(&status_->spilled) > full_at_;
    return unsure_;
  }

 private:
  AxisSpill* spills_;
  AxisReduceStatus* status_;
  unsigned long long full_at_;
  std::uint64_t output_ = 0;
  bool unsure_ = true;
};

/// Adds to a sum what is an addend of it.
class TermSum {
 public:
  __device__ TermSum(AxisTerm term, Spiller& spiller) : term_(term), spiller_(spiller) {}

  __device__ void load(const Expansion& sum) { sum_ = sum; }
  __device__ const Expansion& sum() const { return sum_; }

  __device__ void add(double addend) { spiller_(term_, warpfold::add(sum_, addend)); }
  __device__ void add(const Expansion& addend) {
    warpfold::add(sum_, addend, [this](double rest) { spiller_(term_, rest); });
  }
  __device__ void add_any(double addend) {
    if (is_addend(addend))
      add(addend);
    else
      spiller_(term_, addend);
  }
  template <class Integer>
  __device__ void add_integer(Integer value) {
    split_integer(value, [this](double part) { add(part); });
  }

 private:
  AxisTerm term_;
  Spiller& spiller_;
  Expansion sum_;
};

__device__ inline std::uint64_t magnitude_of(std::int64_t value) {
  const auto bits = static_cast<std::uint64_t>(value);
  return value < 0 ? std::uint64_t{0} - bits : bits;
}
__device__ inline std::uint64_t magnitude_of(std::uint64_t value) { return value; }

/// A column's sums while one thread adds to them. Those not requested stay untouched.
template <ReduceKind kind>
class ColumnSums {
  static constexpr bool more = kind == ReduceKind::any || kind == ReduceKind::products;

 public:
  __device__ ColumnSums(const AxisColumns& columns, Spiller& spiller)
      : columns_(columns),
        spiller_(spiller),
        sum_(AxisTerm::value, spiller),
        absolute_(AxisTerm::magnitude, spiller),
        squares_(AxisTerm::square, spiller) {}

  __device__ void load(std::uint64_t column) {
    if (has_sum()) sum_.load(columns_.sum[column]);
    if (has_absolute()) absolute_.load(columns_.absolute[column]);
    if (has_squares()) squares_.load(columns_.squares[column]);
  }

  __device__ void store(std::uint64_t column) const {
    if (has_sum()) columns_.sum[column] = sum_.sum();
    if (has_absolute()) columns_.absolute[column] = absolute_.sum();
    if (has_squares()) columns_.squares[column] = squares_.sum();
  }

  /// A finite one.
  __device__ void add(double value) {
    if (has_sum()) sum_.add_any(value);
    if (has_absolute()) absolute_.add_any(fabs(value));
    if (has_squares()) add_square(value);
  }

  template <class Integer>
  __device__ void add(Integer value) {
    if (has_sum()) sum_.add_integer(value);
    if (has_absolute()) absolute_.add_integer(magnitude_of(value));
    if (has_squares())
      split_square(magnitude_of(value), [this](double part) { squares_.add(part); });
  }

  __device__ void add_weight(double weight) {
    if (has_absolute()) absolute_.add_any(weight);
  }

  /// Adds the product of finite numbers, and that of the factor and the value's square.
  template <class Number>
  __device__ void add_product(Number value, double factor) {
    const auto add_to_sum = [&](double part) {
      add_product(sum_, AxisTerm::product, part, factor);
    };
    const auto add_to_squares = [&](double part) {
      add_product(squares_, AxisTerm::weighted_square, part, factor);
    };
    if constexpr (std::is_integral_v<Number>) {
      if (!fits_double(value)) {
        if (has_sum()) split_integer(value, add_to_sum);
        if (has_squares()) split_square(magnitude_of(value), add_to_squares);
        return;
      }
    }
    const auto x = static_cast<double>(value);
    if (has_sum()) add_to_sum(x);
    if (!has_squares()) return;
    if (!is_exact_product(x, x)) return spiller_(AxisTerm::weighted_root, x, factor);
    const DoublePair square = product_of(x, x);
    add_to_squares(square.high);
    add_to_squares(square.low);
  }

  __device__ void merge(std::uint64_t column) {
    if (has_sum()) sum_.add(columns_.sum[column]);
    if (has_absolute()) absolute_.add(columns_.absolute[column]);
    if (has_squares()) squares_.add(columns_.squares[column]);
  }

 private:
  __device__ bool has_sum() const {
    return kind == ReduceKind::sum || (more && columns_.sum != nullptr);
  }
  __device__ bool has_absolute() const { return more && columns_.absolute != nullptr; }
  __device__ bool has_squares() const { return more && columns_.squares != nullptr; }

  __device__ void add_square(double value) {
    if (!is_root(value)) return spiller_(AxisTerm::root, value);
    const DoublePair square = square_of(value);
    squares_.add(square.high);
    squares_.add(square.low);
  }

  __device__ void add_product(TermSum& sum, AxisTerm term, double x, double factor) {
    if (!is_exact_product(x, factor)) return spiller_(term, x, factor);
    const DoublePair product = product_of(x, factor);
    sum.add_any(product.high);
    sum.add_any(product.low);
  }

  const AxisColumns& columns_;
  Spiller& spiller_;
  TermSum sum_;
  TermSum absolute_;
  TermSum squares_;
};

}  // namespace warpfold::cuda::kernels
