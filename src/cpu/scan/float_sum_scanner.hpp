#pragma once

#include <algorithm>
#include <cmath>

#include "core/scan/scan_arithmetic.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/reduce/exact_stream.hpp"
#include "cpu/scan/range_scanner.hpp"
#include "cpu/scan/tile_output.hpp"

namespace warpfold::cpu {

template <class Stored>
class FloatSumScanner final : public RangeScanner {
 public:
  FloatSumScanner(const Kernels& kernels, const ScanSpec& spec)
      : decoder_(kernels, spec.input.order),
        kernels_(kernels_of<T>(kernels)),
        scan_tile_(scan_order::sums_in_pairs(spec.input.type, spec.output) ? kernels_.scan_pairs
                                                                           : kernels_.scan_doubles),
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
      scan_tile(x, size, running);
      store_doubles(output_, prefixes_, size, out + first * size_of(output_));
      add_tile(size, running.sum);
    }
    return std::nullopt;
  }

 private:
  using T = Decoded<Stored>;

  void scan_tile(const T* x, std::size_t n, Accumulator& running) {
    const SpecialCounts specials = kernels_.sanitize(x, n, finite_);
    std::fill(finite_ + n, finite_ + scan_order::tile_elements, T{0});
    const scan_order::TileScale scale = scan_order::tile_scale(any_huge(running.sum));
    const DoublePair base = running.sum.rounded_pair(scale.exponent);
    scan_tile_(finite_, scale.down, base, exclusive_, prefixes_);
    if (scale.exponent != 0)
      for (std::size_t i = 0; i < n; ++i) prefixes_[i] *= scale.up;
    const scan_order::TileSpecials first = first_specials(x, n, specials, running);
    if (first.nan < scan_order::tile_elements ||
        first.positive_infinity < scan_order::tile_elements ||
        first.negative_infinity < scan_order::tile_elements)
      settle_specials(first, n);
    running.nan_count += specials.nan;
    running.positive_infinities += specials.positive_infinities;
    running.negative_infinities += specials.negative_infinities;
  }

  bool any_huge(const ExactSum& base) const {
    const MinMax<T> range = kernels_.extrema(finite_, scan_order::tile_elements);
    const double largest =
        std::max(-static_cast<double>(range.minimum), static_cast<double>(range.maximum));
    return largest >= scan_order::huge || std::abs(base.rounded()) >= scan_order::huge;
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

  void add_tile(std::size_t n, ExactSum& sum) {
    if (!values_.add(finite_, n, sum))
      for (std::size_t i = 0; i < n; ++i) sum.add(static_cast<double>(finite_[i]));
    sum.normalize();
  }

  BlockDecoder<Stored> decoder_;
  const FloatKernels<T>& kernels_;
  decltype(FloatKernels<T>::scan_pairs) scan_tile_;
  ExactStream<T> values_;
  ElementType output_;
  bool exclusive_;
  alignas(64) T finite_[scan_order::tile_elements];
  alignas(64) double prefixes_[scan_order::tile_elements];
};

}  // namespace warpfold::cpu
