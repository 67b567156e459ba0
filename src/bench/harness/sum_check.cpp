#include "bench/harness/sum_check.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <variant>

#include "core/results/summarize.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::bench {
namespace {

std::uint64_t low_bits(std::uint64_t bits, std::size_t bytes) {
  return bytes == 8 ? bits : bits & ((std::uint64_t{1} << (8 * bytes)) - 1);
}

/// One unit in the last place of a float of `digits` significant bits near `value`.
double unit_in_last_place(double value, int digits) {
  constexpr int min_exponent = -1021;
  int exponent = 0;
  std::frexp(value, &exponent);
  return std::ldexp(1.0, std::max(exponent, min_exponent) - digits);
}

double error_in_ulps(double claimed, const Accumulator& exact, int digits) {
  if (!std::isfinite(claimed)) return std::numeric_limits<double>::infinity();
  ExactSum error = exact.sum;
  error.add(-claimed);
  return std::fabs(error.rounded()) / unit_in_last_place(exact.sum.rounded(), digits);
}

}  // namespace

void judge_sum(Row& row, std::uint64_t bits, ElementType input, ElementType output,
               const Accumulator& exact) {
  if (output == ElementType::f64) {
    row.error_ulps = error_in_ulps(std::bit_cast<double>(bits), exact, 53);
  } else if (output == ElementType::f32) {
    const auto claimed = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    row.error_ulps = error_in_ulps(static_cast<double>(claimed), exact, 24);
  } else {
    const Value sum = summarize(exact, input, {Statistic::sum}, {}).front().second;
    const auto right = static_cast<std::uint64_t>(std::get<int128>(sum));
    const std::size_t bytes = size_of(output);
    row.check = low_bits(bits, bytes) == low_bits(right, bytes) ? Check::right : Check::wrong;
  }
}

}  // namespace warpfold::bench
