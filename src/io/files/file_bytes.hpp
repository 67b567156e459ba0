#pragma once

#include <cstdint>

namespace warpfold::io {

/// Bytes [address, address + count) of a file.
struct FileBytes {
  std::uint64_t address = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return address + count; }
  bool operator==(const FileBytes&) const = default;
};

}  // namespace warpfold::io
