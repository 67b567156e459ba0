#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/inexact_flag.hpp"

namespace warpfold::cpu {

/// How many doubles kernels are to keep the sums of the next tile in: few are fast, more are exact
/// more often.
class SumLevels {
 public:
  explicit SumLevels(const Kernels& kernels)
      : fewest_(inexact_is_kept()      ? 1
                : kernels.plain_behind ? max_levels + 1
                                       : 2),
        flag_tells_(kernels.plain_behind) {
    std::fill(std::begin(levels_), std::end(levels_), fewest_);
  }

  /// Beyond max_levels where kernels can't do it.
  int of(Term term) const { return levels_[static_cast<std::size_t>(term)]; }

  /// Whether there are any; where there are none, few may do for the next tile again.
  bool expect_more(Term term) {
    int& levels = levels_[static_cast<std::size_t>(term)];
    if (levels < max_levels) return ++levels, true;
    levels = std::min(levels, std::max(fewest_, max_levels - 1));
    return false;
  }

  /// To be called after each tile: every so often, tries fewer again.
  void relax() {
    if (++tiles_ % 256 != 0) return;
    for (int& levels : levels_) levels = std::max(fewest_, levels - 1);
  }

  /// Whether `sum(levels - 1)` gives exact sums of a term: what it returns, and the inexact flag
  /// where that tells.
  template <class Sum>
  bool exact(Term term, Sum&& sum) const {
    const int levels = of(term);
    if (levels > max_levels) return false;
    clear_inexact();
    return sum(static_cast<std::size_t>(levels - 1)) &&
           !((levels == 1 || flag_tells_) && inexact_raised());
  }

 private:
  int fewest_;
  bool flag_tells_;
  int levels_[column_terms];
  std::uint64_t tiles_ = 0;
};

}  // namespace warpfold::cpu
