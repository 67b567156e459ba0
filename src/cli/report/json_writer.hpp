#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "warpfold/core/int128.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::cli {

using Json = nlohmann::ordered_json;

/// Makes a number where a double holds every integer of its size, a string of digits past 2^53.
Json json_integer(int128 value);

/// Makes null, a number, or a string for integers past 2^53.
Json json_value(const Value& value);

/// Writes the document as text, keys in the order they were given. Floating-point numbers are the
/// shortest decimals that round-trip; NaN and infinities, which JSON lacks, the strings "nan",
/// "inf" and "-inf".
std::string json_text(const Json& document);

}  // namespace warpfold::cli
