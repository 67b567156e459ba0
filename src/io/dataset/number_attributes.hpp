#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::io {

/// The exact numbers that an attribute holds, one or several.
struct NumberAttribute {
  ElementType type = ElementType::f64;
  std::vector<Value> values;  ///< none where it holds no numbers, or more than any use needs
  std::string instead;        ///< the reason: "it has no values", "its type is string"
  std::string text;           ///< text of a string
};

/// A dataset's attributes of these names; none where it has no such attribute, or `dataset` names a
/// member of its elements. Throws an Error for a file that can't be read.
std::vector<std::optional<NumberAttribute>> read_number_attributes(
    const std::string& file, const std::string& dataset, std::span<const std::string> names);

}  // namespace warpfold::io
