#include "bench/harness/selection.hpp"

#include <algorithm>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {

std::vector<std::string> chosen_names(std::string_view what, const std::vector<std::string>& asked,
                                      const std::vector<std::string>& all,
                                      const std::vector<std::string>& usual) {
  for (const std::string& name : asked) {
    if (contains(all, name)) continue;
    std::string list;
    for (const std::string& each : all) list += (list.empty() ? "" : ", ") + each;
    throw usage_error("unknown " + std::string(what) + " '" + name + "'", "",
                      "Choose from " + list + ".");
  }
  return asked.empty() ? usual : asked;
}

bool contains(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

}  // namespace warpfold::bench
