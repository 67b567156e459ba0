#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpfold::io {

/// Returns the file of that name, also where there is none, or those that a pattern (`*`, `?` and
/// `[...]`, as in a shell) stands for, in the order of comes_before(). Throws an Error for a
/// pattern without files.
std::vector<std::string> files_called(const std::string& name);

/// Compares names, the numbers in them by their value: "p2" comes before "p10".
bool comes_before(std::string_view one, std::string_view other);

}  // namespace warpfold::io
