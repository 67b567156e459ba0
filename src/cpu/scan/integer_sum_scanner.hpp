#pragma once

#include <algorithm>
#include <limits>

#include "cpu/chunks/block_decoder.hpp"
#include "cpu/scan/range_scanner.hpp"
#include "cpu/scan/tile_output.hpp"

namespace warpfold::cpu {

/// The value of a normalized sum of integers.
inline int128 integer_of(const ExactSum& sum) {
  uint128 value = 0;
  for (int digit = 0; digit < 4; ++digit)
    value |= static_cast<uint128>(static_cast<std::uint32_t>(sum.limb[ExactSum::low_limbs + digit]))
             << (32 * digit);
  return static_cast<int128>(value);
}

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
      const auto place = scan_tile(x, size, base, out + first * size_of(output_));
      if (place && !unfit && !wraps_) unfit = first + *place;
      base += kernels_.sum(x, size);
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
    return store_integers(output_, integers_, n, out);
  }

  /// Whether 64 bits are enough of each prefix.
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

}  // namespace warpfold::cpu
