#pragma once

#include <optional>
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

/// Returns whether a value is a double that is no number.
bool is_nan(const Value& value);

/// Returns the value of `type` that a number stands for: an equal integer, or the nearest
/// floating-point value, as a compiler's constant; none where that is infinite and the number is
/// not. An integer that is taken as unsigned may also have the number of its bits with a sign.
std::optional<Value> held_value(const Value& number, ElementType type,
                                bool taken_as_unsigned = false);

/// Returns the value of `type` that `text` stands for, a number or "nan". Throws a usage Error for
/// a text that is no number, or one that no value of the type is held_value() of.
Value parse_fill_value(std::string_view text, ElementType type);

/// Returns whether parse_fill_value() takes a text, whichever the type.
bool is_number(std::string_view text);

/// Selects NaN and the values of `type` from `minimum` to `maximum` (std::monostate: unbounded),
/// without `left_out`: all are values of the type. Throws a usage Error for more different ones
/// than a filter can leave out.
ValueFilter filter_of_stored(std::span<const Value> left_out, const Value& minimum,
                             const Value& maximum, ElementType type);

}  // namespace warpfold
