#include "bench/harness/spread.hpp"

#include <algorithm>
#include <cstddef>

namespace warpfold::bench {

Spread spread_of(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  const std::size_t middle = samples.size() / 2;
  const bool odd = samples.size() % 2 == 1;
  const double median = odd ? samples[middle] : (samples[middle - 1] + samples[middle]) / 2;
  return {median, samples.front(), samples.back()};
}

}  // namespace warpfold::bench
