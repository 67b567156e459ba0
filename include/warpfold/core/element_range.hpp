#pragma once

#include <cstdint>

namespace warpfold {

/// A range has the consecutive elements [first, first + count) of a dataset's flat (row-major)
/// index space.
struct ElementRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
  bool operator==(const ElementRange&) const = default;
};

}  // namespace warpfold
