#pragma once

#include <set>
#include <string>
#include <vector>

namespace warpfold::io {

/// Picks, of datasets of a file, those that tell where elements of others are: dimension scales,
/// and what the attributes `bounds`, `climatology`, `coordinates` and `grid_mapping` of these
/// datasets name. Leaves out what can't be read. Throws Error.
std::set<std::string> coordinates_among(const std::string& file,
                                        const std::vector<std::string>& datasets);

}  // namespace warpfold::io
