#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

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

/// Elements of a document's array that are made one by one, as it is written.
struct JsonElements {
  std::string array;  ///< a member of the document, which is empty there
  std::size_t size = 0;
  std::function<Json(std::size_t index)> make;
};

/// Calls `write` with json_text() of a document with such elements, part by part.
void write_json(const Json& document, const JsonElements& elements,
                const std::function<void(std::string_view part)>& write);

}  // namespace warpfold::cli
