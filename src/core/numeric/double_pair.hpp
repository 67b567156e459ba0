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

}  // namespace warpfold
