#include "cpu/reduce/range_reducer.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/chunks/block_decoder.hpp"
#include "cpu/chunks/decoded_blocks.hpp"
#include "cpu/reduce/block_accumulator.hpp"
#include "cpu/reduce/exact_stream.hpp"

namespace warpfold::cpu {
namespace {

template <class T>
class IntegerReducer final : public RangeReducer {
 public:
  IntegerReducer(const Kernels& kernels, ByteOrder order, ReduceNeeds needs)
      : decoder_(kernels, order), kernels_(kernels_of<T>(kernels)), needs_(needs) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices& indices) override {
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      reduce_block(decoder_.decode(elements + first * sizeof(T), size), size, indices.from(first));
    }
  }

  Accumulator take() override { return accumulator_.take(); }

 private:
  void reduce_block(const T* x, std::size_t n, const ElementIndices& indices) {
    Accumulator& into = accumulator_.for_next_block();
    into.count += static_cast<std::int64_t>(n);
    if (needs_.sum) into.sum.add(kernels_.sum(x, n));
    if (needs_.absolute) into.absolute.add(kernels_.absolute(x, n), 0);
    if (needs_.squares) {
      const SquareSums squares = kernels_.squares(x, n);
      into.squares.add(squares.low, 0);
      into.squares.add(squares.middle, 33);
      into.squares.add(squares.high, 64);
    }
    if (needs_.extrema) {
      const MinMax<T> range = kernels_.extrema(x, n);
      merge_extremum(into.minimum, x, n, indices, range.minimum, 0, kernels_.find);
      merge_extremum(into.maximum, x, n, indices, range.maximum, ~std::uint64_t{0}, kernels_.find);
    }
  }

  BlockDecoder<T> decoder_;
  const IntegerKernels<T>& kernels_;
  ReduceNeeds needs_;
  BlockAccumulator accumulator_;
};

template <class Stored>
class FloatReducer final : public RangeReducer {
 public:
  FloatReducer(const Kernels& kernels, ByteOrder order, ReduceNeeds needs)
      : decoder_(kernels, order),
        kernels_(kernels_of<T>(kernels)),
        needs_(needs),
        values_(kernels, Term::value),
        magnitudes_(kernels, Term::magnitude),
        squares_(kernels, Term::square),
        square_errors_(kernels, Term::square_error) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices& indices) override {
    for (std::uint64_t first = 0; first < n; first += step) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(step, n - first));
      reduce_block(decoder_.decode(elements + first * sizeof(Stored), size), size,
                   indices.from(first));
    }
  }

  Accumulator take() override { return accumulator_.take(); }

 private:
  using T = Decoded<Stored>;

  /// Short blocks of 32-bit elements are more often summed plainly without rounding; long ones of
  /// 64 bits spread what a block costs by itself.
  static constexpr std::size_t step = sizeof(T) == 4 ? block_elements / 2 : block_elements;

  void reduce_block(const T* x, std::size_t n, const ElementIndices& indices) {
    Accumulator& into = accumulator_.for_next_block();
    into.count += static_cast<std::int64_t>(n);
    if (needs_.extrema) reduce_extrema(into, x, n, indices);
    // While blocks are finite, their sum alone shows that they are.
    if (needs_.sum && expects_finite_ && values_.add(x, n, into.sum)) {
      reduce_magnitudes(into, x, n);
      return;
    }
    const SpecialCounts specials = kernels_.sanitize(x, n, finite_);
    expects_finite_ = !specials.any();
    count_specials(into, specials, x, n, indices);
    if (needs_.sum && !values_.add(finite_, n, into.sum))
      for (std::size_t i = 0; i < n; ++i) into.sum.add(static_cast<double>(finite_[i]));
    reduce_magnitudes(into, finite_, n);
  }

  void count_specials(Accumulator& into, const SpecialCounts& specials, const T* x, std::size_t n,
                      const ElementIndices& indices) const {
    into.nan_count += specials.nan;
    into.positive_infinities += specials.positive_infinities;
    into.negative_infinities += specials.negative_infinities;
    if (specials.nan == 0 || indices.first() > into.first_nan) return;
    const auto place = std::find_if(x, x + n, [](T value) { return value != value; }) - x;
    into.first_nan = std::min(into.first_nan, indices(static_cast<std::size_t>(place)));
  }

  void reduce_extrema(Accumulator& into, const T* x, std::size_t n,
                      const ElementIndices& indices) const {
    const MinMax<T> range = kernels_.extrema(x, n);
    merge_extremum(into.minimum, x, n, indices, range.minimum, 0, kernels_.find);
    merge_extremum(into.maximum, x, n, indices, range.maximum, ~std::uint64_t{0}, kernels_.find);
  }

  /// The sums of magnitudes and of squares, of finite elements.
  void reduce_magnitudes(Accumulator& into, const T* x, std::size_t n) {
    if (needs_.absolute && !magnitudes_.add(x, n, into.absolute))
      for (std::size_t i = 0; i < n; ++i) into.absolute.add(std::abs(static_cast<double>(x[i])));
    if (!needs_.squares) return;
    if constexpr (sizeof(T) == sizeof(double)) {
      reduce_double_squares(into, x, n);
    } else if (!squares_.add(x, n, into.squares)) {
      for (std::size_t i = 0; i < n; ++i) into.squares.add_square(static_cast<double>(x[i]));
    }
  }

  void reduce_double_squares(Accumulator& into, const T* x, std::size_t n) {
    const std::size_t dropped = kernels_.drop_unsquarable(x, n, squarable_);
    if (dropped != 0) {
      for (std::size_t i = 0; i < n; ++i)
        if (x[i] != squarable_[i]) into.squares.add_square(x[i]);
    }
    if (!squares_.add(squarable_, n, into.squares)) {
      for (std::size_t i = 0; i < n; ++i) into.squares.add_square(squarable_[i]);
    } else if (!square_errors_.add(squarable_, n, into.squares)) {
      add_square_errors(into, n);
    }
  }

  void add_square_errors(Accumulator& into, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) {
      const double x = static_cast<double>(squarable_[i]);
      into.squares.add(std::fma(x, x, -(x * x)));
    }
  }

  BlockDecoder<Stored> decoder_;
  const FloatKernels<T>& kernels_;
  ReduceNeeds needs_;
  ExactStream<T> values_;
  ExactStream<T> magnitudes_;
  ExactStream<T> squares_;
  ExactStream<T> square_errors_;
  bool expects_finite_ = true;
  BlockAccumulator accumulator_;
  alignas(64) T finite_[step];
  alignas(64) T squarable_[step];
};

class DecodingReducer final : public DecodingSink<RangeReducer> {
 public:
  using DecodingSink::DecodingSink;

  Accumulator take() override { return values().take(); }
};

std::unique_ptr<RangeReducer> make_value_reducer(const Kernels& kernels, ElementFormat format,
                                                 ReduceNeeds needs) {
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<RangeReducer> {
    using Stored = decltype(element);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatReducer<Stored>>(kernels, format.order, needs);
    else
      return std::make_unique<IntegerReducer<Stored>>(kernels, format.order, needs);
  });
}

}  // namespace

std::unique_ptr<RangeReducer> make_range_reducer(const Kernels& kernels, ElementFormat format,
                                                 ReduceNeeds needs, const Decoding& decoding) {
  if (decoding.trivial()) return make_value_reducer(kernels, format, needs);
  const ElementFormat values{decoding.value_type(format.type), native_byte_order};
  return std::make_unique<DecodingReducer>(kernels, format, decoding,
                                           make_value_reducer(kernels, values, needs));
}

}  // namespace warpfold::cpu
