#pragma once

#include <functional>
#include <map>
#include <string>

#include "io/files/posix_file.hpp"

namespace warpfold::io {

/// Versions of files by their paths.
using FileVersions = std::map<std::string, FileVersion>;

/// Returns what throws an Error, beginning with `problem`, where a file is not as it was; one of
/// them, which the problem names, is called "the file".
std::function<void()> make_require_unchanged(const std::string& problem, const std::string& file,
                                             const FileVersions& versions);

}  // namespace warpfold::io
