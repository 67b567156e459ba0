#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/results/axis_parts.hpp"
#include "cuda/axis/axis_reduce.hpp"
#include "cuda/axis/column_number.cuh"
#include "cuda/axis/near_sum.hpp"
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

  /// Leaves parts of a number.
  template <int Count>
  __device__ void operator()(AxisTerm term, const Addend<Count>& number) {
    spill_parts(spills_, status_, output_, term, number);
    unsure_ = true;
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
  template <int Count>
  __device__ __noinline__ static void spill_parts(AxisSpill* spills, AxisReduceStatus* status,
                                                  std::uint64_t output, AxisTerm term,
                                                  const Addend<Count> number) {
    number.split(
        [&](double part) { store(spills[atomicAdd(&status->spilled, 1ull)], output, term, part); });
  }

  __device__ static void store(AxisSpill& spill, std::uint64_t output, AxisTerm term,
                               double addend) {
    spill.output = output;
    spill.addend = addend;
    spill.term = term;
  }

  __device__ void store(unsigned long long at, AxisTerm term, double addend) {
    store(spills_[at], output_, term, addend);
    unsure_ = true;
  }

  AxisSpill* spills_;
  AxisReduceStatus* status_;
  std::uint64_t output_ = 0;
  bool unsure_ = true;
};

/// Adds to a column's sum in device memory: what few elements need.
template <class Window, int Count>
__device__ __noinline__ bool add_to_column(Window* sum, const Addend<Count> addend) {
  return sum->add(addend);
}

/// Tells which sums of a column are requested.
template <ReduceKind kind>
class ColumnTerms {
 protected:
  __device__ ColumnTerms(const AxisReduce& reduce, Spiller& spiller)
      : columns_(reduce.columns), spiller_(spiller) {}

  __device__ bool has_sum() const {
    return kind == ReduceKind::sum || (more && columns_.sum != nullptr);
  }
  __device__ bool has_absolute() const { return more && columns_.absolute != nullptr; }
  __device__ bool has_squares() const { return more && columns_.squares != nullptr; }

  __device__ auto spilling(AxisTerm term) {
    return [this, term](double number) { spiller_(term, number); };
  }

  const AxisColumns& columns_;
  Spiller& spiller_;

 private:
  static constexpr bool more = kind == ReduceKind::any || kind == ReduceKind::products;
};

/// A column's sums of integers, while one thread adds to them.
template <class Integer, ReduceKind kind>
class IntegerSums : ColumnTerms<kind> {
 public:
  __device__ IntegerSums(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column,
                         std::uint32_t)
      : ColumnTerms<kind>(reduce, spiller), column_(column) {
    if (this->has_sum()) sum_ = loaded(this->columns_.sum);
    if (this->has_absolute()) absolute_ = loaded(this->columns_.absolute);
    if (this->has_squares())
      for (int i = 0; i < 6; ++i) squares_.word[i] = this->columns_.squares[column].word(i);
  }

  __device__ bool add(Integer value) {
    const std::uint64_t size = scaled_number(value).magnitude;
    if (this->has_sum()) sum_.units += static_cast<uint128>(static_cast<int128>(value));
    if (this->has_absolute()) absolute_.units += size;
    if (this->has_squares()) {
      const uint128 square = uint128{size} * size;
      squares_.add(static_cast<std::uint64_t>(square), static_cast<std::uint64_t>(square >> 64), 0);
    }
    return true;
  }

  __device__ void add_far(Integer, std::uint32_t) {}

  __device__ void store() {
    if (this->has_sum()) this->columns_.sum[column_].set(sum_.addend(0));
    if (this->has_absolute()) this->columns_.absolute[column_].set(absolute_.addend(0));
    if (this->has_squares()) this->columns_.squares[column_].set(squares_.addend(0));
  }

 private:
  __device__ NearSum loaded(const ColumnSum* sums) const {
    NearSum sum;
    for (int i = 3; i >= 0; --i) sum.units = sum.units << 32 | sums[column_].word(i);
    return sum;
  }

  std::uint64_t column_;
  NearSum sum_;
  NearSum absolute_;
  NearSquares squares_;
};

/// A column's sums of floats, while one thread adds to them: near ones in registers, of what a
/// NearWindow covers, beside those in device memory.
template <ReduceKind kind>
class FloatSums : ColumnTerms<kind> {
 public:
  /// For at most so many elements.
  __device__ FloatSums(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column,
                       std::uint32_t elements)
      : ColumnTerms<kind>(reduce, spiller),
        column_(column),
        window_(elements, this->has_squares()) {}

  /// Returns false, and adds nothing, if the window does not cover the number.
  __device__ bool add(ComparedDouble value) {
    if (!window_.covers(value.bits)) return false;
    const NearNumber number = window_.number(value.bits);
    if (this->has_sum()) sum_.add(number);
    if (this->has_absolute()) absolute_.add({number.magnitude, number.shift, false});
    if (this->has_squares()) squares_.add(number);
    return true;
  }

  /// Adds a finite number that the window does not cover. The window moves to the second of two
  /// such numbers in consecutive rows.
  __device__ void add_far(ComparedDouble value, std::uint32_t row) {
    const bool moves = !window_.is_placed() || row == last_far_ + 1;
    last_far_ = row;
    NearWindow moved = window_;
    if (moves) moved.move_to(value.bits);
    if (!moves || !moved.covers(value.bits)) return add_wide(value);
    empty();
    window_ = moved;
    add(value);
  }

  __device__ void store() {
    empty();
    if (this->has_sum()) this->columns_.sum[column_].settle(this->spilling(AxisTerm::value));
    if (this->has_absolute())
      this->columns_.absolute[column_].settle(this->spilling(AxisTerm::magnitude));
    if (this->has_squares())
      this->columns_.squares[column_].settle(this->spilling(AxisTerm::square));
  }

 private:
  __device__ void add_wide(ComparedDouble value) {
    const ScaledInteger number = scaled_number(value);
    if (this->has_sum() && !add_to_column(&this->columns_.sum[column_], addend_of(number, 53)))
      this->spiller_(AxisTerm::value, std::bit_cast<double>(value.bits));
    if (this->has_absolute() &&
        !add_to_column(&this->columns_.absolute[column_],
                       addend_of({number.magnitude, number.exponent, false}, 53)))
      this->spiller_(AxisTerm::magnitude, std::bit_cast<double>(value.magnitude()));
    if (this->has_squares() &&
        !add_to_column(&this->columns_.squares[column_], product_of(number, number, 106)))
      this->spiller_(AxisTerm::root, std::bit_cast<double>(value.bits));
  }

  /// Adds the near sums to those in device memory.
  __device__ void empty() {
    if (!window_.is_placed()) return;
    if (this->has_sum()) empty_to(this->columns_.sum, sum_, AxisTerm::value);
    if (this->has_absolute()) empty_to(this->columns_.absolute, absolute_, AxisTerm::magnitude);
    if (this->has_squares()) empty_to(this->columns_.squares, squares_, AxisTerm::square);
  }

  template <class Window, class Near>
  __device__ void empty_to(Window* sums, Near& near, AxisTerm term) {
    const auto addend = near.addend(window_.unit());
    if (!add_to_column(&sums[column_], addend)) this->spiller_(term, addend);
    near = {};
  }

  std::uint64_t column_;
  NearWindow window_;
  NearSum sum_;
  NearSum absolute_;
  NearSquares squares_;
  std::uint32_t last_far_ = ~1u;
};

/// A column's sums in the form in which they are in device memory.
template <ReduceKind kind>
class WideSums : protected ColumnTerms<kind> {
 public:
  __device__ WideSums(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column)
      : ColumnTerms<kind>(reduce, spiller), column_(column) {
    if (this->has_sum()) sum_ = this->columns_.sum[column];
    if (this->has_absolute()) absolute_ = this->columns_.absolute[column];
    if (this->has_squares()) squares_ = this->columns_.squares[column];
  }

  __device__ void merge(std::uint64_t column) {
    if (this->has_sum()) sum_.merge(this->columns_.sum[column], this->spilling(AxisTerm::value));
    if (this->has_absolute())
      absolute_.merge(this->columns_.absolute[column], this->spilling(AxisTerm::magnitude));
    if (this->has_squares())
      squares_.merge(this->columns_.squares[column], this->spilling(AxisTerm::square));
  }

  __device__ void store() {
    if (this->has_sum()) store(this->columns_.sum, sum_, AxisTerm::value);
    if (this->has_absolute()) store(this->columns_.absolute, absolute_, AxisTerm::magnitude);
    if (this->has_squares()) store(this->columns_.squares, squares_, AxisTerm::square);
  }

 protected:
  ColumnSum sum_;
  ColumnSum absolute_;
  ColumnSquares squares_;

 private:
  template <class Window>
  __device__ void store(Window* sums, Window& sum, AxisTerm term) {
    sum.settle(this->spilling(term));
    sums[column_] = sum;
  }

  std::uint64_t column_;
};

/// A column's sums of products, while one thread adds to them.
template <class Number>
class ProductSums : public WideSums<ReduceKind::products> {
 public:
  __device__ ProductSums(const AxisReduce& reduce, Spiller& spiller, std::uint64_t column,
                         std::uint32_t)
      : WideSums<ReduceKind::products>(reduce, spiller, column) {}

  __device__ void add_weight(ComparedDouble weight) {
    if (has_absolute() && !absolute_.add(addend_of(scaled_number(weight), 53)))
      spiller_(AxisTerm::magnitude, std::bit_cast<double>(weight.bits));
  }

  /// Adds the product of finite numbers, and that of the factor and the value's square.
  __device__ void add_product(Number value, ComparedDouble factor) {
    const ScaledInteger number = scaled_number(value);
    const ScaledInteger by = scaled_number(factor);
    if (has_sum() &&
        !sum_.add(product_of(number, by, bits + 53).with_sign(number.negative != by.negative)))
      spill_product(value, factor);
    if (has_squares() &&
        !squares_.add(
            product_of(product_of(number, number, 2 * bits), by, 53).with_sign(by.negative)))
      spill_weighted_square(value, factor);
  }

 private:
  __device__ void spill_product(Number value, ComparedDouble factor) {
    const double by = std::bit_cast<double>(factor.bits);
    if constexpr (std::is_integral_v<Number>) {
      const ScaledInteger number = scaled_number(value);
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
      const std::uint64_t size = scaled_number(value).magnitude;
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

  static constexpr int bits = std::is_integral_v<Number> ? 64 : 53;
};

/// Sums of one thread's elements of a column.
template <class Number, ReduceKind kind>
using ColumnSums = std::conditional_t<
    kind == ReduceKind::products, ProductSums<Number>,
    std::conditional_t<std::is_integral_v<Number>, IntegerSums<Number, kind>, FloatSums<kind>>>;

}  // namespace warpfold::cuda::kernels
