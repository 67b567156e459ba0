#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold {

/// Selects the values of `type` that meet all `conditions`: "<", "<=", ">", ">=", "==" or "!=" and
/// a number or "nan", or one of "finite", "inf", "nan". Beside floating-point types a decimal
/// stands for the nearest value of the type, unless that is infinite; hexadecimal numbers, and all
/// numbers beside integers, for exactly what is written. NaN is none of a comparison's values; "!="
/// any number selects it. Throws a usage Error that names the condition which is none.
ValueFilter filter_of_conditions(std::span<const std::string> conditions, ElementType type);

/// Selects all values of `type` but the fill value written as `text`, a number or "nan": in a
/// floating-point type the value nearest to it, as a compiler's constant. Throws a usage Error for
/// a text that is no number, or one that no value of the type equals.
ValueFilter filter_without_fill_value(std::string_view text, ElementType type);

/// Selects all values of `type` but `fills`, numbers as attributes hold them: in a floating-point
/// type the values nearest to them; those that no value of the type equals are none. Throws an
/// Error for more different ones than a filter can leave out.
ValueFilter filter_without_fill_values(std::span<const Value> fills, ElementType type);

/// Lists the values that a filter without ranges leaves out: those of filter_without_fill_value()
/// and filter_without_fill_values(), NaN the last.
std::vector<Value> values_left_out(const ValueFilter& filter, ElementType type);

}  // namespace warpfold
