#include "core/results/estimates.hpp"

#include <cmath>
#include <cstdlib>

#include "core/numeric/special_values.hpp"

namespace warpfold {
namespace {

/// Magnitudes between which no quotient, product or residual below loses bits to underflow.
constexpr double least_size = 0x1p-400;
constexpr double largest_size = 0x1p400;

/// Products that are smaller may lose bits, less than `underflow`.
constexpr double least_product = 0x1p-900;
constexpr double underflow = 0x1p-950;

/// Relative errors of a few operations on double-doubles, each at most some 2^-104.
constexpr double operation_error = 0x1p-98;

/// Errors that are larger, relatively, would make the bounds below too complicated.
constexpr double largest_error = 0x1p-60;

/// Digits of limbs that are further from the point may be no doubles.
constexpr int largest_limb = 24;

constexpr std::uint64_t largest_count = std::uint64_t{1} << 53;

/// A sum of products in three doubles, and a bound on what these have no room for.
class ProductSum {
 public:
  void add(double addend) {
    for (double& part : part_) {
      if (addend == 0.0) return;
      const DoublePair taken = two_sum(part, addend);
      part = taken.high;
      addend = taken.low;
    }
    lost_ += std::fabs(addend);
  }

  void add_product(double a, double b) {
    if (a == 0.0 || b == 0.0) return;
    const double product = a * b;
    if (!(std::fabs(product) >= least_product)) lost_ += underflow;
    add(product);
    add(std::fma(a, b, -product));
  }

  void add_products(const Expansion& a, const Expansion& b) {
    for (const double first : a.part)
      for (const double second : b.part) add_product(first, second);
  }

  void subtract_square(const Expansion& root) {
    for (int i = 0; i < 4 && root.part[i] != 0.0; ++i) {
      add_product(-root.part[i], root.part[i]);
      for (int j = i + 1; j < 4; ++j) add_product(-2.0 * root.part[i], root.part[j]);
    }
  }

  void widen(double error) { lost_ += error; }

  Estimate estimate() const {
    // Products of large numbers overflow, and normalized() needs finite parts.
    if (!std::isfinite(part_[0] + part_[1] + part_[2])) return {0.0, 0.0, infinity};
    const Expansion sum = normalized({{part_[0], part_[1], part_[2], 0.0}});
    const double low = sum.part[1] + sum.part[2];
    return {sum.part[0], low, 2.0 * lost_ + std::fabs(sum.part[0]) * operation_error};
  }

 private:
  double part_[3] = {};
  double lost_ = 0;
};

bool is_zero(const Estimate& number) { return number.high == 0.0 && number.error == 0.0; }

/// Returns whether a number is positive, known well enough, and of a size that can be computed
/// with.
bool is_usable(const Estimate& number) {
  return number.high >= least_size && number.high <= largest_size &&
         number.error <= number.high * largest_error;
}

std::optional<Estimate> quotient(const Estimate& dividend, const Estimate& divisor) {
  if (!is_usable(divisor)) return std::nullopt;
  if (is_zero(dividend)) return Estimate{};
  if (!is_usable(dividend)) return std::nullopt;
  const double first = dividend.high / divisor.high;
  const double product = first * divisor.high;
  const double rest = (dividend.high - product) - std::fma(first, divisor.high, -product);
  const double second = (rest + (dividend.low - first * divisor.low)) / divisor.high;
  const double relative = dividend.error / dividend.high + divisor.error / divisor.high;
  const DoublePair sum = two_sum(first, second);
  return Estimate{sum.high, sum.low, first * (2.0 * relative + operation_error)};
}

/// Takes the five leading digits: 129 bits and more.
template <class Sum>
InexactSum leading_digits(const Sum& sum) {
  constexpr int digits = 5;
  Sum magnitude = sum;
  if (sum.negative()) magnitude.negate();
  int top = Sum::limbs - 1;
  while (top > 0 && magnitude.limb[top] == 0) --top;
  InexactSum leading;
  if (magnitude.limb[top] == 0) return leading;
  if (std::abs(top - Sum::low_limbs) > largest_limb) return {{}, infinity};
  const double sign = sum.negative() ? -1.0 : 1.0;
  const auto unit = [](int limb) { return std::ldexp(1.0, 32 * (limb - Sum::low_limbs)); };
  int limb = top;
  for (; limb >= 0 && limb > top - digits; --limb)
    leading.error += std::fabs(
        add(leading.value, sign * static_cast<double>(magnitude.limb[limb]) * unit(limb)));
  bool more = false;
  for (int rest = limb; rest >= 0 && !more; --rest) more = magnitude.limb[rest] != 0;
  if (more) leading.error += unit(limb + 1);
  leading.value = normalized(leading.value);
  return leading;
}

}  // namespace

InexactSum leading_part(const ExactSum& sum) { return leading_digits(sum); }
InexactSum leading_part(const ExactSumOfSquares& sum) { return leading_digits(sum); }
InexactSum leading_part(const ExactSumOfWeightedSquares& sum) { return leading_digits(sum); }

std::optional<Estimate> variance_estimate(const Expansion& sum, const Expansion& squares,
                                          std::uint64_t count, std::uint64_t ddof) {
  if (count > largest_count) return std::nullopt;
  const auto elements = static_cast<double>(count);
  ProductSum numerator;
  for (const double part : normalized(squares).part) numerator.add_product(elements, part);
  numerator.subtract_square(normalized(sum));
  ProductSum divisor;
  divisor.add_product(elements, static_cast<double>(count - ddof));
  return quotient(numerator.estimate(), divisor.estimate());
}

std::optional<Estimate> variance_estimate(const InexactSum& weights, const InexactSum& products,
                                          const InexactSum& squares) {
  ProductSum numerator;
  numerator.add_products(weights.value, squares.value);
  numerator.subtract_square(products.value);
  const auto size = [](const InexactSum& sum) { return std::fabs(sum.value.part[0]) + sum.error; };
  numerator.widen(2.0 * (size(weights) * squares.error + size(squares) * weights.error +
                         2.0 * size(products) * products.error));
  ProductSum divisor;
  divisor.add_products(weights.value, weights.value);
  divisor.widen(4.0 * size(weights) * weights.error);
  return quotient(numerator.estimate(), divisor.estimate());
}

std::optional<Estimate> estimate_of(const Expansion& sum) {
  ProductSum parts;
  for (const double part : sum.part) parts.add(part);
  return parts.estimate();
}

std::optional<Estimate> root_of(const std::optional<Estimate>& square) {
  if (!square || is_zero(*square)) return square;
  if (!is_usable(*square)) return std::nullopt;
  const double first = std::sqrt(square->high);
  const double rest = std::fma(-first, first, square->high) + square->low;
  const DoublePair sum = two_sum(first, rest / (2.0 * first));
  return Estimate{sum.high, sum.low, square->error / first + first * operation_error};
}

}  // namespace warpfold
