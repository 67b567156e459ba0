#pragma once

#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// A double pair is an unevaluated sum of two doubles, |low| at most half a unit in the last place
/// of high: 106 significant bits.
struct DoublePair {
  double high;
  double low;
};

/// Returns a pair with high + low == a + b exactly (Knuth's TwoSum; no order of magnitudes is
/// assumed). Neither sum may overflow. Needs round-to-nearest and a compiler that neither contracts
/// nor reorders.
WARPFOLD_HD inline DoublePair two_sum(double a, double b) {
  const double sum = a + b;
  const double b_part = sum - a;
  const double a_part = sum - b_part;
  return {sum, (a - a_part) + (b - b_part)};
}

/// Does what two_sum() does, where |a| >= |b| or a is zero (Dekker's Fast2Sum).
WARPFOLD_HD inline DoublePair fast_two_sum(double a, double b) {
  const double sum = a + b;
  return {sum, b - (sum - a)};
}

/// Adds with a relative error of at most 2^-105 (Joldes, Muller, Popescu, ACM TOMS 44(2), 2017:
/// DWPlusFP).
WARPFOLD_HD inline DoublePair add(DoublePair a, double b) {
  const DoublePair sum = two_sum(a.high, b);
  return fast_two_sum(sum.high, a.low + sum.low);
}

/// Adds with a relative error below 3.1 * 2^-106 (the same paper: AccurateDWPlusDW).
WARPFOLD_HD inline DoublePair add(DoublePair a, DoublePair b) {
  const DoublePair high = two_sum(a.high, b.high);
  const DoublePair low = two_sum(a.low, b.low);
  const DoublePair carried = fast_two_sum(high.high, high.low + low.high);
  return fast_two_sum(carried.high, low.low + carried.low);
}

}  // namespace warpfold
