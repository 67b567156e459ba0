#include "core/numeric/cosine.hpp"

#include <cmath>

#include "core/numeric/double_pair.hpp"

namespace warpfold {
namespace {

/// pi / 180.
constexpr DoublePair radians_of_degree{0x1.1df46a2529d39p-6, 0x1.5c1d8becdd291p-62};

DoublePair fast_pair(double high, double low) {
  const double sum = high + low;
  return {sum, low - (sum - high)};
}

DoublePair sum(DoublePair a, DoublePair b) {
  const DoublePair high = two_sum(a.high, b.high);
  return fast_pair(high.high, high.low + (a.low + b.low));
}

DoublePair product(DoublePair a, DoublePair b) {
  const double high = a.high * b.high;
  return fast_pair(high, std::fma(a.high, b.high, -high) + (a.high * b.low + a.low * b.high));
}

DoublePair quotient(DoublePair a, double b) {
  const double high = a.high / b;
  return fast_pair(high, (std::fma(-high, b, a.high) + a.low) / b);
}

/// Sums up the series of the cosine (`power` 0) or the sine (1) of an angle up to pi / 4.
DoublePair series(DoublePair angle, int power) {
  constexpr int last_power = 28;
  DoublePair square = product(angle, angle);
  square = {-square.high, -square.low};
  DoublePair term = power == 0 ? DoublePair{1.0, 0.0} : angle;
  DoublePair total = term;
  for (int n = power + 2; n <= last_power; n += 2) {
    term = quotient(product(term, square), static_cast<double>(n * (n - 1)));
    total = sum(total, term);
  }
  return total;
}

}  // namespace

double cosine_of_degrees(double degrees) {
  // Exact, down to the half of a right angle.
  double angle = std::fmod(std::fabs(degrees), 360.0);
  if (angle > 180.0) angle = 360.0 - angle;
  const bool negative = angle > 90.0;
  if (negative) angle = 180.0 - angle;
  const bool beyond_half = angle > 45.0;
  const DoublePair radians = product({beyond_half ? 90.0 - angle : angle, 0.0}, radians_of_degree);
  const double cosine = series(radians, beyond_half ? 1 : 0).high;
  return negative ? -cosine : cosine;
}

double cosine_of_radians(double radians) {
  constexpr DoublePair right_angle{0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54};
  const DoublePair angle{std::fabs(radians), 0.0};
  const DoublePair to_right_angle = sum(right_angle, {-angle.high, 0.0});
  if (to_right_angle.high <= 0.0) return 0.0;
  const bool beyond_half = angle.high > to_right_angle.high;
  return series(beyond_half ? to_right_angle : angle, beyond_half ? 1 : 0).high;
}

}  // namespace warpfold
