#pragma once

#include <cstdint>
#include <string>

namespace warpfold::io {

/// Throws an Error beginning with `problem` where the file system of `folder` has fewer than
/// `bytes` free.
void require_free_space(const std::string& folder, std::uint64_t bytes, const std::string& problem);

/// Reserves storage for the whole of a file, where the file system can, so that a later write finds
/// it. Throws an Error beginning with `problem`, which says how much is missing if that is why.
void reserve_storage(const std::string& file, const std::string& problem);

}  // namespace warpfold::io
