#pragma once

#include <cstdint>
#include <string>

#include "io/output/output.hpp"

namespace warpfold::io {

/// Throws an Error where `spec` names no file that may be written: its input itself, something that
/// exists (without `force`) or is no regular file, a folder that is missing or not writable.
void require_writable_target(const OutputSpec& spec);

/// Gives the file `temporary` its final name `path`; the one change is atomic. Without `force` an
/// existing `path` stays as it is and an Error is thrown.
void publish(const std::string& temporary, const std::string& path, bool force);

/// Throws an Error beginning with `problem` where the file system of `folder` has fewer than
/// `bytes` free.
void require_free_space(const std::string& folder, std::uint64_t bytes, const std::string& problem);

/// Reserves storage for the whole of a file, where the file system can, so that a later write finds
/// it. Throws an Error beginning with `problem`, which says how much is missing if that is why.
void reserve_storage(const std::string& file, const std::string& problem);

}  // namespace warpfold::io
