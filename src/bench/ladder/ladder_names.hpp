#pragma once

#include <string>
#include <vector>

#include "bench/harness/selection.hpp"

namespace warpfold::bench {

template <class Variants>
std::vector<std::string> names_of(const Variants& variants) {
  std::vector<std::string> names;
  for (const auto& variant : variants) names.push_back(variant.name);
  return names;
}

/// The variants and their company that were asked for; all where none were. Throws a usage Error.
inline std::vector<std::string> chosen_kernels(const std::vector<std::string>& asked,
                                               std::vector<std::string> variants,
                                               const std::vector<std::string>& company) {
  variants.insert(variants.end(), company.begin(), company.end());
  return chosen_names("kernel", asked, variants, variants);
}

}  // namespace warpfold::bench
