#pragma once

#include <sys/stat.h>

#include <cstdint>
#include <string>

namespace warpfold::io {

/// What changes when a file is written to or another takes its name.
struct FileVersion {
  ::dev_t device = 0;
  ::ino_t inode = 0;
  std::uint64_t bytes = 0;
  std::int64_t modified_ns = 0;

  bool operator==(const FileVersion&) const = default;
};

/// All zero where there is no such file.
FileVersion version_of(const std::string& path);

}  // namespace warpfold::io
