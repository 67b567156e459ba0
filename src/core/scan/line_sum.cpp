#include "core/scan/line_sum.hpp"

namespace warpfold {

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
