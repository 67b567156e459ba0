#pragma once

#include <string>
#include <utility>
#include <vector>

#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Attributes that unpack a dataset's valid numbers: value = stored * scale_factor + add_offset.
/// ViewOptions::fill_value replaces the dataset's fill value.
struct AppliedAttributes {
  /// Joined files each have their own attributes, which are applied to their elements. The other
  /// members are then empty.
  bool of_each_file = false;
  bool is_unsigned = false;        ///< stored integers are read as unsigned
  Value scale_factor;              ///< none: std::monostate, here and below
  Value add_offset;                ///< none where it changes nothing
  std::vector<Value> fill_values;  ///< stored numbers that are skipped, in the elements' type
  Value valid_min;                 ///< stored numbers below this are skipped
  Value valid_max;                 ///< stored numbers above this are skipped
  /// Attributes that have no meaning for the stored type, and why.
  std::vector<std::pair<std::string, std::string>> ignored;

  /// Compares all members.
  friend bool operator==(const AppliedAttributes&, const AppliedAttributes&) = default;
};

}  // namespace warpfold
