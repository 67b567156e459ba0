#pragma once

#include <cstdint>
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

/// Returns a checksum of bytes spread over all of a file, of a small one of all bytes; throws Error
/// where it can't be read.
std::uint32_t checksum_of_samples(const std::string& path);

}  // namespace warpfold::io
