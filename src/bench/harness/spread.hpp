#pragma once

#include <vector>

namespace warpfold::bench {

/// How long repeated runs of the same thing took, in seconds.
struct Spread {
  double median = 0;
  double minimum = 0;
  double maximum = 0;
};

/// Of one sample or more; the median of an even number is the mean of the middle two.
Spread spread_of(std::vector<double> samples);

}  // namespace warpfold::bench
