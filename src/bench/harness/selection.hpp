#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold::bench {

/// The names that were asked for, or `usual` where none were. Throws a usage Error for one that is
/// not among `all`.
std::vector<std::string> chosen_names(std::string_view what, const std::vector<std::string>& asked,
                                      const std::vector<std::string>& all,
                                      const std::vector<std::string>& usual);

bool contains(const std::vector<std::string>& names, std::string_view name);

}  // namespace warpfold::bench
