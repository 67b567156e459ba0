#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "core/scan/scan_identity.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/scan/range_scanner.hpp"
#include "cpu/scan/tile_output.hpp"

namespace warpfold::cpu {

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
      const auto place = store(size, out + first * size_of(output_));
      if (place && !unfit && !wraps_) unfit = first + *place;
    }
    return unfit;
  }

 private:
  using T = Decoded<Stored>;
  using Prefix = std::conditional_t<std::is_integral_v<T>, int128, double>;

  T start(const Accumulator& before) const {
    const Extremum& best = minimum_ ? before.minimum : before.maximum;
    if constexpr (std::is_integral_v<T>) {
      if (best.seen()) return static_cast<T>(best.bits);
    } else {
      if (before.nan_count != 0) return std::numeric_limits<T>::quiet_NaN();
      if (best.seen()) return static_cast<T>(std::bit_cast<double>(best.bits));
    }
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

  std::optional<std::size_t> store(std::size_t n, std::byte* out) const {
    if constexpr (std::is_integral_v<T>) return store_integers(output_, prefixes_, n, out);
    if constexpr (!std::is_integral_v<T>) store_doubles(output_, prefixes_, n, out);
    return std::nullopt;
  }

  BlockDecoder<Stored> decoder_;
  ElementType output_;
  bool minimum_;
  bool wraps_;
  bool exclusive_;
  alignas(64) Prefix prefixes_[block_elements];
};

}  // namespace warpfold::cpu
