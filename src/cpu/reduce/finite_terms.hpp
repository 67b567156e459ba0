#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <vector>

#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/inexact_flag.hpp"
#include "cpu/reduce/axis_outputs.hpp"

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

  /// Returns the number for a term; beyond max_levels where kernels can't do it.
  int of(Term term) const { return levels_[static_cast<std::size_t>(term)]; }

  /// Returns whether there are any more, and takes them; where there are none, few may do for the
  /// next tile again.
  bool expect_more(Term term) {
    int& levels = levels_[static_cast<std::size_t>(term)];
    if (levels < max_levels) return ++levels, true;
    levels = std::min(levels, std::max(fewest_, max_levels - 1));
    return false;
  }

  /// Tries fewer again every so often; to be called after each tile.
  void relax() {
    if (++tiles_ % 256 != 0) return;
    for (int& levels : levels_) levels = std::max(fewest_, levels - 1);
  }

  /// Returns whether `sum(levels - 1)` gives exact sums of a term: what it returns, and the inexact
  /// flag where that tells.
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

/// Rows of floats in memory, `stride` elements from one to the next.
template <class T>
struct FloatRows {
  const T* x = nullptr;
  std::size_t rows = 0;
  std::size_t columns = 0;
  std::size_t stride = 0;
};

/// Adds the terms of rows of floats to outputs: as if all elements were finite, as long as the sums
/// show that they are; then with 0 in place of those that are not.
template <class T>
class FiniteTerms {
 public:
  FiniteTerms(const Kernels& kernels, const AxisOutputs& outputs, SumLevels& levels)
      : kernels_(kernels), outputs_(outputs), levels_(levels) {}

  /// Calls for each term that is needed `add(rows, term)`, which returns false and leaves the
  /// outputs' sums where an element is not finite or the levels too few, at last
  /// `add_one_by_one(rows, term)`; and `count(r, specials)` where row r has elements that are not
  /// finite.
  template <class Add, class AddOneByOne, class Count>
  void add(FloatRows<T> rows, Add&& add, AddOneByOne&& add_one_by_one, Count&& count) {
    const ReduceNeeds& needs = outputs_.needs();
    bool checked = !expects_finite_ || !(needs.sum || needs.absolute || needs.squares);
    if (checked) make_finite(rows, count);
    for (const Term term : AxisOutputs::terms) {
      if (!outputs_.needs(term)) continue;
      while (!add(rows, term)) {
        if (!checked) {
          make_finite(rows, count);
          checked = true;
        } else if (!levels_.expect_more(term)) {
          add_one_by_one(rows, term);
          break;
        }
      }
    }
    levels_.relax();
  }

 private:
  template <class Count>
  void make_finite(FloatRows<T>& rows, Count&& count) {
    const FloatKernels<T>& kernels = kernels_of<T>(kernels_);
    expects_finite_ = kernels.all_finite(rows.x, rows.rows, rows.stride, rows.columns);
    if (expects_finite_) return;
    finite_.resize(std::max(finite_.size(), rows.rows * rows.columns));
    if (rows.stride == rows.columns)
      sanitize_as_one(rows, kernels, count);
    else
      sanitize_each(rows, kernels, count);
    rows.x = finite_.data();
    rows.stride = rows.columns;
  }

  template <class Count>
  void sanitize_each(const FloatRows<T>& rows, const FloatKernels<T>& kernels, Count&& count) {
    for (std::size_t r = 0; r < rows.rows; ++r) {
      const SpecialCounts specials = kernels.sanitize(rows.x + r * rows.stride, rows.columns,
                                                      finite_.data() + r * rows.columns);
      if (specials.any()) count(r, specials);
    }
  }

  /// Calls the kernel for each row that changed alone: rows may be too short to be worth it.
  template <class Count>
  void sanitize_as_one(const FloatRows<T>& rows, const FloatKernels<T>& kernels, Count&& count) {
    if (!kernels.sanitize(rows.x, rows.rows * rows.columns, finite_.data()).any()) return;
    for (std::size_t r = 0; r < rows.rows; ++r) {
      const T* const row = rows.x + r * rows.columns;
      T* const finite = finite_.data() + r * rows.columns;
      if (std::memcmp(row, finite, rows.columns * sizeof(T)) != 0)
        count(r, kernels.sanitize(row, rows.columns, finite));
    }
  }

  const Kernels& kernels_;
  const AxisOutputs& outputs_;
  SumLevels& levels_;
  bool expects_finite_ = true;
  std::vector<T> finite_;
};

}  // namespace warpfold::cpu
