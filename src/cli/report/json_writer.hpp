#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "warpfold/core/int128.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::cli {

using Json = nlohmann::ordered_json;

/// Makes a number of all its digits. Beyond 64 bits json_text() alone can write it.
Json json_integer(int128 value);

/// Makes null or a number.
Json json_value(const Value& value);

/// Writes the document as text, keys in the order they were given. Floating-point numbers are the
/// shortest decimals that round-trip, with a point or an exponent. NaN and infinities, which JSON
/// lacks, are null; a last member `not_finite` of the document has their JSON Pointers (RFC 6901),
/// each with "nan", "inf" or "-inf".
std::string json_text(const Json& document);

}  // namespace warpfold::cli
