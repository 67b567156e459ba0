#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::io {

/// What an attribute of one or several numbers holds, exactly.
struct NumberAttribute {
  ElementType type = ElementType::f64;
  std::vector<Value> values;  ///< at least one
};

/// A dataset's attributes of these names; none where it has no such attribute. Throws an Error for
/// one that holds no numbers, or more of them than any use for them needs.
std::vector<std::optional<NumberAttribute>> read_number_attributes(
    const std::string& file, const std::string& dataset, std::span<const std::string> names);

}  // namespace warpfold::io
