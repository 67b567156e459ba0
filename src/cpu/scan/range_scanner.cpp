#include "cpu/scan/range_scanner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "core/scan/line_sum.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/kernels/tile_arithmetic.hpp"
#include "cpu/reduce/exact_stream.hpp"
#include "cpu/scan/prefix_output.hpp"

namespace warpfold::cpu {
namespace {

/// Running minima or maxima: the earlier of equal elements stays; from a NaN on all are NaN.
template <class Stored>
class ExtremumScanner final : public RangeScanner {
 public:
  ExtremumScanner(const Kernels& kernels, const ScanSpec& spec)
      : decoder_(kernels, spec.input.order),
        output_(spec.output),
        minimum_(spec.operation == ScanOperation::min),
        wraps_(spec.overflow == OverflowPolicy::wrap),
        exclusive_(spec.exclusive) {}

  std::optional<std::uint64_t> scan(const std::byte* in, std::uint64_t n, const Accumulator& before,
                                    std::byte* out) override {
    std::optional<std::uint64_t> unfit;
    T running = start(before);
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      const T* x = decoder_.decode(in + first * sizeof(Stored), size);
      running = minimum_ ? fill<true>(x, size, running) : fill<false>(x, size, running);
      const auto place = store_prefixes(output_, prefixes_, size, out + first * size_of(output_));
      if (place && !unfit && !wraps_) unfit = first + *place;
    }
    return unfit;
  }

 private:
  using T = Decoded<Stored>;
  using Prefix = std::conditional_t<std::is_integral_v<T>, int128, double>;

  T start(const Accumulator& before) const {
    const Extremum& best = minimum_ ? before.minimum : before.maximum;
    if constexpr (!std::is_integral_v<T>)
      if (before.nan_count != 0) return std::numeric_limits<T>::quiet_NaN();
    if (best.seen()) return element_of_bits<T>(best.bits);
    return scan_identity<T>(minimum_ ? ScanOperation::min : ScanOperation::max);
  }

  template <bool minimum>
  T fill(const T* x, std::size_t n, T running) {
    for (std::size_t i = 0; i < n; ++i) {
      const bool better = minimum ? x[i] < running : x[i] > running;
      const bool nan = x[i] != x[i];
      const T after = better || nan ? x[i] : running;
      prefixes_[i] = exclusive_ ? running : after;
      running = after;
    }
    return running;
  }

  BlockDecoder<Stored> decoder_;
  ElementType output_;
  bool minimum_;
  bool wraps_;
  bool exclusive_;
  alignas(64) Prefix prefixes_[block_elements];
};

template <class Stored>
class FloatSumScanner final : public RangeScanner {
 public:
  FloatSumScanner(const Kernels& kernels, const ScanSpec& spec)
      : decoder_(kernels, spec.input.order),
        kernels_(kernels_of<T>(kernels)),
        scan_tile_(spec.output == ElementType::f64 ? kernels_.scan_to_nearest
                                                   : kernels_.scan_to_odd),
        values_(kernels, Term::value),
        output_(spec.output),
        exclusive_(spec.exclusive) {}

  std::optional<std::uint64_t> scan(const std::byte* in, std::uint64_t n, const Accumulator& before,
                                    std::byte* out) override {
    Accumulator running = before;
    for (std::uint64_t first = 0; first < n; first += scan_order::tile_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(scan_order::tile_elements, n - first));
      const T* x = decoder_.decode(in + first * sizeof(Stored), size);
      scan_tile(x, size, running, out + first * size_of(output_));
    }
    return std::nullopt;
  }

 private:
  using T = Decoded<Stored>;

  /// Adds the tile to `running`, too.
  void scan_tile(const T* x, std::size_t n, Accumulator& running, std::byte* out) {
    const SpecialCounts specials = kernels_.sanitize(x, n, finite_);
    std::fill(finite_ + n, finite_ + scan_order::tile_elements, T{0});
    const TileOutcome outcome = scan_finite(running.sum);
    if (outcome.certain) {
      const scan_order::TileSpecials first = first_specials(x, n, specials, running);
      if (first.any()) settle_specials(first, n);
      store_prefixes(output_, prefixes_, n, out);
    } else {
      scan_exactly(x, n, running, out);
    }
    add_tile(outcome, n, running.sum);
    running.nan_count += specials.nan;
    running.positive_infinities += specials.positive_infinities;
    running.negative_infinities += specials.negative_infinities;
  }

  /// Scans the finite elements, unless there is anything huge.
  TileOutcome scan_finite(const ExactSum& before) {
    const MinMax<T> range = kernels_.extrema(finite_, scan_order::tile_elements);
    const double largest =
        std::max(-static_cast<double>(range.minimum), static_cast<double>(range.maximum));
    const TileBase base = {before.rounded_pair(), before.least_bit()};
    if (largest >= huge || std::abs(base.sum.high) >= huge) return {false, {true, true}, {}};
    const TileSlices slices(exponent_above(magnitude_word(largest)));
    while (true) {
      const TileTerms terms = {
          {slices.bias(0), slices.bias(1)}, base.sum, error_bound(base, slices.exponent(), use_)};
      const TileOutcome outcome = scan_tile_(finite_, terms, exclusive_, prefixes_);
      const bool as_expected = outcome.use == use_;
      const bool no_worse =
          outcome.use.second <= use_.second && outcome.use.left_over <= use_.left_over;
      use_ = outcome.use;
      if (no_worse && (outcome.certain || as_expected)) return outcome;
    }
  }

  void scan_exactly(const T* x, std::size_t n, const Accumulator& before, std::byte* out) const {
    LineSum sum(before.sum, before.nan_count != 0, before.positive_infinities != 0,
                before.negative_infinities != 0);
    visit_element_type(output_, [&](auto output) {
      using Out = decltype(output);
      if constexpr (is_floating_element<Out>) {
        auto* prefixes = reinterpret_cast<Out*>(out);
        for (std::size_t i = 0; i < n; ++i) {
          const auto element = static_cast<double>(x[i]);
          if (exclusive_) prefixes[i] = sum.rounded<Out>();
          sum.add(element);
          if (!exclusive_) prefixes[i] = sum.rounded<Out>();
        }
      }
    });
  }

  static scan_order::TileSpecials first_specials(const T* x, std::size_t n,
                                                 const SpecialCounts& specials,
                                                 const Accumulator& before) {
    const auto first_of = [](std::int64_t earlier) {
      return earlier != 0 ? -1 : scan_order::tile_elements;
    };
    scan_order::TileSpecials first = {first_of(before.nan_count),
                                      first_of(before.positive_infinities),
                                      first_of(before.negative_infinities)};
    if (!specials.any()) return first;
    for (std::size_t i = 0; i < n; ++i) {
      const auto place = static_cast<std::int32_t>(i);
      if (std::isnan(x[i]))
        first.nan = std::min(first.nan, place);
      else if (std::isinf(x[i]) && x[i] > 0)
        first.positive_infinity = std::min(first.positive_infinity, place);
      else if (std::isinf(x[i]))
        first.negative_infinity = std::min(first.negative_infinity, place);
    }
    return first;
  }

  void settle_specials(const scan_order::TileSpecials& first, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) {
      const auto seen = static_cast<std::int32_t>(exclusive_ ? i : i + 1);
      prefixes_[i] = scan_order::with_specials(prefixes_[i], first, seen);
    }
  }

  void add_tile(const TileOutcome& outcome, std::size_t n, ExactSum& sum) {
    if (!outcome.use.left_over) {
      for (const double part : outcome.slice_sum) sum.add(part);
    } else if (!values_.add(finite_, n, sum)) {
      for (std::size_t i = 0; i < n; ++i) sum.add(static_cast<double>(finite_[i]));
    }
    sum.normalize();
  }

  BlockDecoder<Stored> decoder_;
  const FloatKernels<T>& kernels_;
  TileScan<T> scan_tile_;
  SliceUse use_ = {};  ///< use of the tile before, which the next is likely to share
  ExactStream<T> values_;
  ElementType output_;
  bool exclusive_;
  alignas(64) T finite_[scan_order::tile_elements];
  alignas(64) double prefixes_[scan_order::tile_elements];
};

template <class T>
class IntegerSumScanner final : public RangeScanner {
 public:
  IntegerSumScanner(const Kernels& kernels, const ScanSpec& spec)
      : decoder_(kernels, spec.input.order),
        kernels_(kernels_of<T>(kernels)),
        output_(spec.output),
        wraps_(spec.overflow == OverflowPolicy::wrap),
        exclusive_(spec.exclusive) {}

  std::optional<std::uint64_t> scan(const std::byte* in, std::uint64_t n, const Accumulator& before,
                                    std::byte* out) override {
    std::optional<std::uint64_t> unfit;
    int128 base = integer_of(before.sum);
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      const T* x = decoder_.decode(in + first * sizeof(T), size);
      const int128 sum = kernels_.sum(x, size);
      const auto place = scan_tile(x, size, base, out + first * size_of(output_));
      if (place && !unfit && !wraps_) unfit = first + *place;
      base += sum;
    }
    return unfit;
  }

 private:
  std::optional<std::size_t> scan_tile(const T* x, std::size_t n, int128 base, std::byte* out) {
    if (takes_words(x, n, base)) {
      fill(x, n, static_cast<std::uint64_t>(base), words_);
      store_words(output_, words_, n, out);
      return std::nullopt;
    }
    fill(x, n, base, integers_);
    return store_prefixes(output_, integers_, n, out);
  }

  /// Returns whether 64 bits are enough of each prefix.
  bool takes_words(const T* x, std::size_t n, int128 base) const {
    if (wraps_ && is_integer(output_)) return true;
    const MinMax<T> range = kernels_.extrema(x, n);
    constexpr auto maximum = static_cast<int128>(block_elements);
    const int128 lowest = base + maximum * std::min<int128>(range.minimum, 0);
    const int128 highest = base + maximum * std::max<int128>(range.maximum, 0);
    if (is_integer(output_)) return holds(output_, lowest, highest);
    const int128 end = int128{1} << (output_ == ElementType::f64 ? 63 : 53);
    return lowest >= -end && highest < end;
  }

  template <class Sum>
  void fill(const T* x, std::size_t n, Sum running, Sum* prefixes) const {
    for (std::size_t i = 0; i < n; ++i) {
      const Sum after = running + static_cast<Sum>(x[i]);
      prefixes[i] = exclusive_ ? running : after;
      running = after;
    }
  }

  BlockDecoder<T> decoder_;
  const IntegerKernels<T>& kernels_;
  ElementType output_;
  bool wraps_;
  bool exclusive_;
  alignas(64) std::uint64_t words_[block_elements];
  alignas(64) int128 integers_[block_elements];
};

}  // namespace

std::unique_ptr<RangeScanner> make_range_scanner(const Kernels& kernels, const ScanSpec& spec) {
  return visit_element_type(spec.input.type, [&](auto element) -> std::unique_ptr<RangeScanner> {
    using Stored = decltype(element);
    if (spec.operation != ScanOperation::sum)
      return std::make_unique<ExtremumScanner<Stored>>(kernels, spec);
    if constexpr (is_floating_element<Stored>)
      return std::make_unique<FloatSumScanner<Stored>>(kernels, spec);
    else
      return std::make_unique<IntegerSumScanner<Stored>>(kernels, spec);
  });
}

}  // namespace warpfold::cpu
