#pragma once

#include <cstddef>

#include "core/numeric/fixed_point.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/inexact_flag.hpp"

namespace warpfold::cpu {

/// Adds blocks' terms to an exact sum at the speed of the cheapest kernel that is exact for them:
/// the number of levels and the place of the first are those that served the blocks before.
template <class T>
class ExactStream {
 public:
  ExactStream(const Kernels& kernels, Term term);

  /// Adds the block's terms to `sum`, or returns false and leaves it as it was: where an element is
  /// not finite, or beyond 2^1000, or terms spread too wide for the levels there are. One call
  /// makes at most max_levels additions to `sum`.
  template <class Sum>
  bool add(const T* x, std::size_t n, Sum& sum) {
    if (!checkable_) return false;
    for (int levels = levels_to_begin_with(); levels <= max_levels; ++levels) {
      const Attempt attempt = levels == 0 ? try_plain(x, n) : try_levels(x, n, levels);
      if (attempt == Attempt::out_of_range) return false;
      if (attempt == Attempt::imprecise) continue;
      add_extraction(levels, sum);
      learn_from(levels);
      return true;
    }
    learn_from(max_levels);
    return false;
  }

 private:
  enum class Attempt { exact, imprecise, out_of_range };

  void extract(const T* x, std::size_t n, int levels);
  int levels_to_begin_with();
  void learn_from(int levels_needed);
  Attempt try_plain(const T* x, std::size_t n);
  Attempt try_levels(const T* x, std::size_t n, int levels);
  int tight_exponent() const;

  template <class Sum>
  void add_extraction(int levels, Sum& sum) const {
    sum.add(extraction_.plain);
    int exponent = exponent_;
    for (int level = 0; level < levels; ++level) {
      const std::int64_t units = extraction_.units[level];
      const auto bits = static_cast<std::uint64_t>(units);
      const ScaledInteger value{units < 0 ? -bits : bits, exponent - 52, units < 0};
      Sum::digits(value, [&sum](int index, std::int64_t addend) { sum.limb[index] += addend; });
      exponent = next_exponent(exponent);
    }
  }

  int next_exponent(int exponent) const;

  const typename FloatKernels<T>::Extract (&extract_)[max_levels + 1];
  int headroom_;
  bool plain_behind_;
  bool checkable_;
  int levels_;        ///< to begin with
  int strain_ = 0;    ///< grows with every block that needed more
  int exponent_ = 0;  ///< exponent of the first level
  int blocks_ = 0;    ///< since fewer levels were tried
  Extraction extraction_ = {};
};

}  // namespace warpfold::cpu
