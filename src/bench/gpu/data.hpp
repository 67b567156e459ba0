#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/benchmarks.hpp"
#include "bench/kernels/kernels.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::bench {

/// Returns the data that were requested, or `usual` where none were; of integers uniform ones.
/// Throws a usage Error.
std::vector<std::string> chosen_data(const Settings& settings, ElementType type,
                                     const std::vector<std::string>& usual);

/// Returns the pattern of that name.
kernels::Pattern pattern_named(std::string_view name);

}  // namespace warpfold::bench
