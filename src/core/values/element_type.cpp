#include "warpfold/core/element_type.hpp"

#include <cstddef>
#include <string>

#include "core/base/text.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

std::string numpy_name_of(ElementType type) {
  const std::string_view name = name_of(type);
  const std::size_t digits = name.find_first_of("123456789");
  const std::string_view kind = name.substr(0, digits);
  const std::string word = kind == "i" ? "int" : kind == "u" ? "uint" : std::string(kind) + "loat";
  return word + std::string(name.substr(digits));
}

}  // namespace

std::string_view name_of(ElementType type) {
  constexpr std::string_view names[] = {"i8",  "i16", "i32", "i64",  "u8",  "u16",
                                        "u32", "u64", "f16", "bf16", "f32", "f64"};
  return names[static_cast<std::size_t>(type)];
}

ElementType parse_element_type(std::string_view name) {
  if (const auto type = find_named(all_element_types, name)) return *type;
  for (const ElementType type : all_element_types)
    if (name == numpy_name_of(type)) return type;
  throw usage_error(
      "unknown element type '" + std::string(name) + "'", "",
      "Choose from " + listed_names(all_element_types) + ", or write float32 for f32.");
}

}  // namespace warpfold
