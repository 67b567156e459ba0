#pragma once

#include <memory>

#include "core/numeric/expansion.hpp"
#include "core/numeric/fixed_point.hpp"
#include "core/numeric/rounding.hpp"
#include "core/scan/scan_arithmetic.hpp"

namespace warpfold {

/// A line sum is the running sum of one line of a scan, exact whatever is added: in four doubles,
/// or where those are too few from then on as an ExactSum.
class LineSum {
 public:
  LineSum() = default;

  /// Begins with finite elements that sum to `sum` so far, and of others as flagged.
  LineSum(const Expansion& sum, bool nan, bool positive_infinity, bool negative_infinity)
      : sum_(sum),
        nan_(nan),
        positive_infinity_(positive_infinity),
        negative_infinity_(negative_infinity) {}

  /// Begins with a normalized sum.
  LineSum(const ExactSum& sum, bool nan, bool positive_infinity, bool negative_infinity);

  /// Adds any double.
  void add(double element) {
    if (!is_addend(element) || exact_) return add_unusual(element);
    const double rest = warpfold::add(sum_, element);
    if (rest != 0.0) spill(rest);
  }

  /// Returns the sum so far, rounded once, ties to even; NaN and infinities as IEEE 754 adds them.
  template <class Out>
  Out rounded() const {
    if (nan_ || positive_infinity_ || negative_infinity_) return output_element<Out>(special());
    if (!exact_) return rounded_to<Out>(sum_);
    return output_element<Out>(exact_->rounded(rounding_towards<Out>));
  }

 private:
  void add_unusual(double element);
  void spill(double rest);

  double special() const {
    return scan_order::with_specials(
        0.0, {nan_ ? -1 : 0, positive_infinity_ ? -1 : 0, negative_infinity_ ? -1 : 0}, 0);
  }

  Expansion sum_;
  std::unique_ptr<ExactSum> exact_;  ///< sum of everything, once there is one
  bool nan_ = false;
  bool positive_infinity_ = false;
  bool negative_infinity_ = false;
};

}  // namespace warpfold
