#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace warpfold {

/// The one of `values` whose name_of() is `name`.
template <class Named, std::size_t Count>
std::optional<Named> find_named(const Named (&values)[Count], std::string_view name) {
  const auto* const end = values + Count;
  const auto* const found =
      std::find_if(values, end, [name](Named value) { return name_of(value) == name; });
  if (found == end) return std::nullopt;
  return *found;
}

/// "a, b, c": the names of `values`, for a message.
template <class Named, std::size_t Count>
std::string listed_names(const Named (&values)[Count]) {
  std::string list;
  for (const Named value : values) {
    if (!list.empty()) list += ", ";
    list += name_of(value);
  }
  return list;
}

}  // namespace warpfold
