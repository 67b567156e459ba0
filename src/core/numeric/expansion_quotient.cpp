#include "core/numeric/expansion_quotient.hpp"

#include <bit>
#include <cmath>

namespace warpfold {
namespace {

/// Below it, products of a quotient might lose bits to underflow.
constexpr double min_dividend = 0x1p-800;
constexpr std::uint64_t largest_divisor = std::uint64_t{1} << 53;

/// sum - quotient * divisor, normalized, where that is exact.
std::optional<Expansion> remainder(Expansion sum, double quotient, double divisor) {
  const double product = quotient * divisor;
  const double first = add(sum, -product);
  const double second = add(sum, -std::fma(quotient, divisor, -product));
  if (first != 0.0 || second != 0.0) return std::nullopt;
  return normalized(sum);
}

/// The next double from a quotient towards the sign of what remains.
double neighbour(double quotient, double remaining) {
  const auto bits = std::bit_cast<std::uint64_t>(quotient);
  const bool away = (remaining > 0.0) == (quotient > 0.0);
  return std::bit_cast<double>(away ? bits + 1 : bits - 1);
}

bool is_odd(double number) { return (std::bit_cast<std::uint64_t>(number) & 1) != 0; }

}  // namespace

std::optional<double> rounded_quotient(const Expansion& sum, std::uint64_t divisor,
                                       Rounding rounding) {
  const Expansion dividend = normalized(sum);
  const double top = dividend.part[0];
  if (top == 0.0) return 0.0;
  if (std::fabs(top) < min_dividend || divisor > largest_divisor) return std::nullopt;
  const auto by = static_cast<double>(divisor);
  double quotient = top / by;
  std::optional<Expansion> rest = remainder(dividend, quotient, by);
  if (!rest) return std::nullopt;
  quotient += rest->part[0] / by;  // now one of the two doubles around the true quotient
  rest = remainder(dividend, quotient, by);
  if (!rest) return std::nullopt;
  const double remaining = rest->part[0];
  if (remaining == 0.0) return quotient;

  const double next = neighbour(quotient, remaining);
  if (rounding == Rounding::odd) return is_odd(quotient) ? quotient : next;
  // Exact: `next` is a unit in the last place away.
  const double half = (next - quotient) * 0.5 * by;
  if (add(*rest, -half) != 0.0) return std::nullopt;
  const double beyond = normalized(*rest).part[0];
  if (beyond == 0.0) return is_odd(quotient) ? next : quotient;
  return (beyond > 0.0) == (remaining > 0.0) ? next : quotient;
}

}  // namespace warpfold
