#include "core/scan/line_sum.hpp"

namespace warpfold {

LineSum::LineSum(const ExactSum& sum, bool nan, bool positive_infinity, bool negative_infinity)
    : LineSum(Expansion{}, nan, positive_infinity, negative_infinity) {
  ExactSum rest = sum;
  for (double& part : sum_.part) {
    part = rest.rounded();
    if (!is_addend(part)) break;
    rest.add(-part);
    rest.normalize();
  }
  if (rest.least_bit() != ExactSum::no_bit) exact_ = std::make_unique<ExactSum>(sum);
}

void LineSum::add_unusual(double element) {
  if (std::isnan(element)) {
    nan_ = true;
  } else if (std::isinf(element)) {
    (element > 0.0 ? positive_infinity_ : negative_infinity_) = true;
  } else if (exact_) {
    exact_->add(element);
    exact_->normalize();
  } else {
    spill(element);
  }
}

void LineSum::spill(double rest) {
  exact_ = std::make_unique<ExactSum>();
  for (const double part : sum_.part) exact_->add(part);
  exact_->add(rest);
  exact_->normalize();
}

}  // namespace warpfold
