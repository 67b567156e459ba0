#pragma once

#include <string>
#include <vector>

#include "bench/harness/selection.hpp"

namespace warpfold::bench {

template <class Rungs>
std::vector<std::string> names_of(const Rungs& rungs) {
  std::vector<std::string> names;
  for (const auto& rung : rungs) names.push_back(rung.name);
  return names;
}

/// The rungs and their company that were asked for; all where none were. Throws a usage Error.
inline std::vector<std::string> chosen_kernels(const std::vector<std::string>& asked,
                                               std::vector<std::string> rungs,
                                               const std::vector<std::string>& company) {
  rungs.insert(rungs.end(), company.begin(), company.end());
  return chosen_names("kernel", asked, rungs, rungs);
}

}  // namespace warpfold::bench
