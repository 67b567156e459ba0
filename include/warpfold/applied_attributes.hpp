#pragma once

#include <string>
#include <utility>
#include <vector>

#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Attributes that unpack a dataset's valid numbers: value = stored * scale_factor + add_offset.
/// ViewOptions::fill_value replaces the dataset's fill value.
struct AppliedAttributes {
  /// Several files are joined that each have attributes of their own. These are applied to its
  /// elements, and no other member has them.
  bool of_each_file = false;
  bool is_unsigned = false;        ///< stored integers are taken as having no sign
  Value scale_factor;              ///< none: std::monostate, here and below
  Value add_offset;                ///< none where it changes nothing
  std::vector<Value> fill_values;  ///< stored numbers that are left out, each an element's
  Value valid_min;                 ///< lesser stored numbers are left out
  Value valid_max;                 ///< greater stored numbers are left out
  /// Attributes that have no meaning for the stored type, and why.
  std::vector<std::pair<std::string, std::string>> ignored;

  /// Compares all members.
  friend bool operator==(const AppliedAttributes&, const AppliedAttributes&) = default;
};

}  // namespace warpfold
