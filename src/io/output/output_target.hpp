#pragma once

#include <string>

#include "io/output/output.hpp"

namespace warpfold::io {

/// Throws an Error where `spec` names no file that may be written: its input itself, something that
/// exists (without `force`) or is no regular file, a folder that is missing or not writable.
void require_writable_target(const OutputSpec& spec);

/// Gives the file `temporary` its final name `path`; the one change is atomic. Without `force` an
/// existing `path` stays as it is and an Error is thrown.
void publish(const std::string& temporary, const std::string& path, bool force);

}  // namespace warpfold::io
