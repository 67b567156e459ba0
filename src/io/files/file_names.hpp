#pragma once

#include <string>
#include <vector>

namespace warpfold::io {

/// Returns the file of that name, also where there is none, or those that a pattern (`*`, `?` and
/// `[...]`, as in a shell) stands for, sorted by name. Throws an Error for a pattern without files.
std::vector<std::string> files_called(const std::string& name);

}  // namespace warpfold::io
