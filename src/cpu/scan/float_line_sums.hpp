#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/numeric/expansion.hpp"
#include "core/scan/line_sum.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/scan/prefix_output.hpp"

namespace warpfold::cpu {

/// Running sums of lines, exact: each is two doubles as long as they hold it, from then on a
/// LineSum.
template <class T, class Out>
class FloatLineSums {
 public:
  FloatLineSums(const Kernels& kernels, bool exclusive)
      : add_(kernels_of<T>(kernels).add_to_lines), exclusive_(exclusive) {}

  void begin(std::uint64_t lines) {
    high_.assign(lines, 0.0);
    low_.assign(lines, 0.0);
    wide_.clear();
    wide_.resize(lines);
  }

  /// Adds an element to each of `n` <= block_elements lines; writes their prefixes.
  void add_across(const T* x, std::size_t n, std::uint64_t first_line, Out* out) {
    constexpr std::size_t vector_lines = 8;
    constexpr bool to_odd = !std::is_same_v<Out, double>;
    for (std::size_t i = 0; i < n;) {
      const std::uint64_t line = first_line + i;
      i += add_(x + i, n - i, {&high_[line], &low_[line]}, exclusive_, to_odd, prefixes_ + i);
      for (const std::size_t end = std::min(n, i + vector_lines); i < end; ++i)
        prefixes_[i] = widened(added(first_line + i, x[i]));
    }
    store_prefixes(element_type_of<Out>(), prefixes_, n, reinterpret_cast<std::byte*>(out));
  }

  /// Adds `n` elements to one line; writes its prefixes.
  void add_along(const T* x, std::size_t n, std::uint64_t line, Out* out) {
    for (std::size_t i = 0; i < n; ++i) out[i] = added(line, x[i]);
  }

 private:
  /// Adds an element, and returns its prefix.
  Out added(std::uint64_t line, T x) {
    const Out before = exclusive_ ? rounded(line) : Out{};
    add(line, static_cast<double>(x));
    return exclusive_ ? before : rounded(line);
  }

  void add(std::uint64_t line, double x) {
    if (wide_[line]) return wide_[line]->add(x);
    Expansion sum = parts(line);
    const bool narrow = is_addend(x) && warpfold::add(sum, x) == 0.0 && sum.part[2] == 0.0;
    if (!narrow) return widen(line, x);
    const DoublePair pair = two_sum(sum.part[0], sum.part[1]);
    high_[line] = pair.high;
    low_[line] = pair.low;
  }

  Expansion parts(std::uint64_t line) const { return {{high_[line], low_[line], 0.0, 0.0}}; }

  void widen(std::uint64_t line, double x) {
    wide_[line] = std::make_unique<LineSum>(parts(line), false, false, false);
    wide_[line]->add(x);
    // No sum of it is exact, so that the kernel leaves the line alone.
    high_[line] = std::numeric_limits<double>::quiet_NaN();
  }

  Out rounded(std::uint64_t line) const {
    return wide_[line] ? wide_[line]->template rounded<Out>() : rounded_to<Out>(parts(line));
  }

  AddToLines<T> add_;
  bool exclusive_;
  std::vector<double> high_;
  std::vector<double> low_;
  std::vector<std::unique_ptr<LineSum>> wide_;
  alignas(64) double prefixes_[block_elements];
};

}  // namespace warpfold::cpu
