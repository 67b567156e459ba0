#pragma once

#include <optional>
#include <string>

namespace warpfold::io {

/// What a file is that people take for an HDF5 file of its own, and what to do about it.
struct ForeignFormat {
  std::string name;
  std::string suggestion;
};

/// Told by the file's first bytes: formats whose files have the same endings as HDF5's or come from
/// the same programs, and parts of what HDF5's drivers spread over several files.
std::optional<ForeignFormat> foreign_format_of(const std::string& path);

}  // namespace warpfold::io
