#pragma once

#include <variant>

#include "core/numeric/rounding.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Returns the element that is a value, rounded to its type; 0 for nothing, and for an integer of a
/// floating-point value.
template <class Element>
Element element_of(const Value& value) {
  if constexpr (is_floating_element<Element>)
    if (const auto* real = std::get_if<double>(&value)) return output_element<Element>(*real);
  if (const auto* integer = std::get_if<int128>(&value)) return output_element<Element>(*integer);
  return {};
}

}  // namespace warpfold
