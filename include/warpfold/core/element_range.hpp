#pragma once

#include <cstdint>

namespace warpfold {

/// The elements [first, first + count) of a dataset's flat (row-major) index space.
struct ElementRange {
  std::uint64_t first = 0;  ///< index of the first element
  std::uint64_t count = 0;  ///< number of elements

  /// Returns the index after the last element.
  std::uint64_t end() const { return first + count; }
  /// Compares both members.
  bool operator==(const ElementRange&) const = default;
};

}  // namespace warpfold
