#include "warpfold/core/element_type.hpp"

#include <string>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {

std::string_view name_of(ElementType type) {
  constexpr std::string_view names[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                        "u32", "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

ElementType parse_element_type(std::string_view name) {
  if (const auto type = find_named(all_element_types, name)) return *type;
  throw usage_error("unknown element type '" + std::string(name) + "'", "",
                    "Choose from " + listed_names(all_element_types) + ".");
}

}  // namespace warpfold
