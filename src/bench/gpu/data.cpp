#include "bench/gpu/data.hpp"

#include <algorithm>
#include <utility>

#include "bench/harness/selection.hpp"

namespace warpfold::bench {

std::vector<std::string> chosen_data(const Settings& settings, ElementType type,
                                     const std::vector<std::string>& usual) {
  std::vector<std::string> all;
  for (const auto& [name, pattern] : kernels::named_patterns) all.emplace_back(name);
  const std::vector<std::string> names = chosen_names("kind of data", settings.data, all, usual);
  return is_floating(type) ? names : std::vector<std::string>{"uniform"};
}

kernels::Pattern pattern_named(std::string_view name) {
  return std::ranges::find(kernels::named_patterns, name,
                           &std::pair<std::string_view, kernels::Pattern>::first)
      ->second;
}

}  // namespace warpfold::bench
