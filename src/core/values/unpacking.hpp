#pragma once

#include <optional>

#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// A number of a type, as an attribute holds it.
struct TypedNumber {
  ElementType type = ElementType::f64;
  Value value;
};

/// Makes the unpacking of elements of type `stored` by a scale and an offset, of which there is at
/// least one: product and sum are of the types that NumPy gives them, but floats of 16 bits are f32
/// and integers have 64 bits of their signedness.
Unpacking make_unpacking(ElementType stored, const std::optional<TypedNumber>& scale,
                         const std::optional<TypedNumber>& offset);

}  // namespace warpfold
