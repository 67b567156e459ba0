#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/results/axis_parts.hpp"
#include "cuda/axis/axis_reduce.hpp"
#include "cuda/axis/column_number.cuh"
#include "cuda/axis/sum_window.hpp"

namespace warpfold::cuda::kernels {

/// Variants of the kernels: sums and extrema, which most commands need, elements that have factors,
/// and any needs.
enum class ReduceKind { sum, extrema, products, any };

/// One thread's way to the list of spills.
class Spiller {
 public:
  __device__ explicit Spiller(const AxisReduce& reduce)
      : spills_(reduce.spills), status_(reduce.status) {}

  __device__ void begin(std::uint64_t output) { output_ = output; }

  __device__ void operator()(AxisTerm term, double addend) {
    store(atomicAdd(&status_->spilled, 1ull), term, addend);
  }

  /// Leaves two spills, one behind the other.
  __device__ void operator()(AxisTerm term, double number, double factor) {
    const unsigned long long first = atomicAdd(&status_->spilled, 2ull);
    store(first, term, number);
    store(first + 1, term, factor);
  }

  /// Returns whether there may be no room for what the next element leaves. Looks only where this
  /// thread has spilled since it last did: hence each leaves at most one element's spills in a full
  /// list, and those of a column.
  __device__ bool full() {
    if (!unsure_) return false;
    unsure_ = *static_cast<volatile unsigned long long*>(&status_->spilled) > axis_spill_limit;
    return unsure_;
  }

 private:
  __device__ void store(unsigned long long at, AxisTerm term, double addend) {
    AxisSpill& spill = spills_[at];
    spill.output = output_;
    spill.addend = addend;
    spill.term = term;
    unsure_ = true;
  }

  AxisSpill* spills_;
  AxisReduceStatus* status_;
  std::uint64_t output_ = 0;
  bool unsure_ = true;
};

/// A column's sums while one thread adds to them. Those not requested stay untouched.
template <class Number, ReduceKind kind>
class ColumnSums {
  static constexpr bool more = kind == ReduceKind::any || kind == ReduceKind::products;
  static constexpr bool whole = std::is_integral_v<Number> && kind != ReduceKind::products;

  /// A sum of integers has so many words, in place of a window.
  template <class Window, int Words>
  struct WholeSum {
    NumberWords<Words> word;

    __device__ void load(const Window& sum) {
      for (int i = 0; i < Words; ++i) word[i] = sum.word(i);
    }
    template <int Count>
    __device__ void add(const Addend<Count>& addend) {
      NumberWords<Words> extended;
      for (int i = 0; i < Words; ++i) extended[i] = i < Count ? addend.word[i] : addend.sign;
      add_words<Words>(word, extended);
    }
  };

 public:
  __device__ ColumnSums(const AxisReduce& reduce, Spiller& spiller)
      : columns_(reduce.columns),
        spiller_(spiller),
        zeros_(reduce.last_zeros),
        bits_(std::is_integral_v<Number> ? 64 : 53 - reduce.last_zeros) {}

  __device__ void load(std::uint64_t column) {
    if (has_sum()) load(sum_, columns_.sum[column]);
    if (has_absolute()) load(absolute_, columns_.absolute[column]);
    if (has_squares()) load(squares_, columns_.squares[column]);
  }

  __device__ void store(std::uint64_t column) {
    if (has_sum()) store(columns_.sum[column], sum_, AxisTerm::value);
    if (has_absolute()) store(columns_.absolute[column], absolute_, AxisTerm::magnitude);
    if (has_squares()) store(columns_.squares[column], squares_, AxisTerm::square);
  }

  /// Adds the number, or nothing if it is not finite.
  __device__ void add(Number value, bool finite) {
    ScaledInteger number = scaled_number(value, zeros_);
    if (!finite) number.magnitude = 0;
    if constexpr (whole)
      add_whole(number);
    else
      add_float(number, value);
  }

  __device__ void add_weight(ComparedDouble weight) {
    if (has_absolute() && !absolute_.add(addend_of(scaled_number(weight, 0), 53)))
      spiller_(AxisTerm::magnitude, std::bit_cast<double>(weight.bits));
  }

  /// Adds the product of finite numbers, and that of the factor and the value's square.
  __device__ void add_product(Number value, ComparedDouble factor) {
    const ScaledInteger number = scaled_number(value, zeros_);
    const ScaledInteger by = scaled_number(factor, 0);
    if (has_sum() &&
        !sum_.add(product_of(number, by, bits_ + 53).with_sign(number.negative != by.negative)))
      spill_product(value, factor);
    if (has_squares() &&
        !squares_.add(
            product_of(product_of(number, number, 2 * bits_), by, 53).with_sign(by.negative)))
      spill_weighted_square(value, factor);
  }

  __device__ void merge(std::uint64_t column) {
    if (has_sum()) sum_.merge(columns_.sum[column], spilling(AxisTerm::value));
    if (has_absolute()) absolute_.merge(columns_.absolute[column], spilling(AxisTerm::magnitude));
    if (has_squares()) squares_.merge(columns_.squares[column], spilling(AxisTerm::square));
  }

 private:
  __device__ bool has_sum() const {
    return kind == ReduceKind::sum || (more && columns_.sum != nullptr);
  }
  __device__ bool has_absolute() const { return more && columns_.absolute != nullptr; }
  __device__ bool has_squares() const { return more && columns_.squares != nullptr; }

  __device__ auto spilling(AxisTerm term) {
    return [this, term](double number) { spiller_(term, number); };
  }

  template <class Window>
  __device__ void load(Window& sum, const Window& stored) {
    sum = stored;
  }
  template <class Window, int Words>
  __device__ void load(WholeSum<Window, Words>& sum, const Window& stored) {
    sum.load(stored);
  }

  template <class Window>
  __device__ void store(Window& stored, Window& sum, AxisTerm term) {
    sum.settle(spilling(term));
    stored = sum;
  }
  template <class Window, int Words>
  __device__ void store(Window& stored, const WholeSum<Window, Words>& sum, AxisTerm) {
    stored.template set_integer<Words>(sum.word);
  }

  __device__ void add_whole(const ScaledInteger& number) {
    const Addend<2> value = addend_of(number, bits_);
    const Addend<2> size = addend_of({number.magnitude, 0, false}, bits_);
    const Addend<4> square = product_of(number, number, 2 * bits_);
    if (has_sum()) sum_.add(value);
    if (has_absolute()) absolute_.add(size);
    if (has_squares()) squares_.add(square);
  }

  __device__ void add_float(const ScaledInteger& number, ComparedDouble value) {
    if (has_sum() && !sum_.add(addend_of(number, bits_)))
      spiller_(AxisTerm::value, std::bit_cast<double>(value.bits));
    if (has_absolute() &&
        !absolute_.add(addend_of({number.magnitude, number.exponent, false}, bits_)))
      spiller_(AxisTerm::magnitude, std::bit_cast<double>(value.magnitude()));
    if (has_squares() && !squares_.add(product_of(number, number, 2 * bits_)))
      spiller_(AxisTerm::root, std::bit_cast<double>(value.bits));
  }

  __device__ void spill_product(Number value, ComparedDouble factor) {
    const double by = std::bit_cast<double>(factor.bits);
    if constexpr (std::is_integral_v<Number>) {
      const ScaledInteger number = scaled_number(value, 0);
      for (int i = 0; i < 2; ++i)
        spiller_(AxisTerm::product,
                 double_of(static_cast<std::uint32_t>(number.magnitude >> 32 * i), 32 * i,
                           number.negative),
                 by);
    } else {
      spiller_(AxisTerm::product, std::bit_cast<double>(value.bits), by);
    }
  }

  __device__ void spill_weighted_square(Number value, ComparedDouble factor) {
    const double by = std::bit_cast<double>(factor.bits);
    if constexpr (std::is_integral_v<Number>) {
      constexpr int digit_bits = 48;
      const std::uint64_t size = scaled_number(value, 0).magnitude;
      const uint128 square = uint128{size} * size;
      for (int place = 0; place < 3 * digit_bits; place += digit_bits)
        spiller_(AxisTerm::weighted_square,
                 double_of(static_cast<std::uint64_t>(square >> place) &
                               ((std::uint64_t{1} << digit_bits) - 1),
                           place, false),
                 by);
    } else {
      spiller_(AxisTerm::weighted_root, std::bit_cast<double>(value.bits), by);
    }
  }

  const AxisColumns& columns_;
  Spiller& spiller_;
  int zeros_;
  int bits_;
  std::conditional_t<whole, WholeSum<ColumnSum, 4>, ColumnSum> sum_;
  std::conditional_t<whole, WholeSum<ColumnSum, 4>, ColumnSum> absolute_;
  std::conditional_t<whole, WholeSum<ColumnSquares, 6>, ColumnSquares> squares_;
};

}  // namespace warpfold::cuda::kernels
