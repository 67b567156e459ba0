#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "warpfold/core/statistic.hpp"

namespace warpfold::cli {

/// Results that `--ops` requests.
struct Operations {
  std::vector<Statistic> statistics;
  std::vector<std::string> quantiles;  ///< names
  std::vector<double> fractions;       ///< fractions of the quantiles, 0 to 1
};

/// Parses "mean,median,q05,q0.999": statistics as parse_statistics() does and quantiles, each name
/// once. Two digits are percent; a fraction has a decimal point. Throws a usage Error.
Operations parse_operations(std::string_view option, std::string_view text);

}  // namespace warpfold::cli
