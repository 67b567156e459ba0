#pragma once

#include <cstdint>

namespace warpfold {

/// Consecutive elements of a dataset's flat (row-major) index space: [first, first + count).
struct ElementRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;

  std::uint64_t end() const { return first + count; }
  bool operator==(const ElementRange&) const = default;
};

}  // namespace warpfold
