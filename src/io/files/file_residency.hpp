#pragma once

#include <cstdint>
#include <string>

namespace warpfold::io {

/// Whether most of `bytes` bytes from `first` on of a file are in the operating system's cache,
/// judged by pages here and there. True also where the file system does not tell.
bool is_mostly_cached(const std::string& path, std::uint64_t first, std::uint64_t bytes);

}  // namespace warpfold::io
