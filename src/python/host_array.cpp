#include "python/host_array.hpp"

#include <algorithm>
#include <iterator>

#include "warpfold/core/error.hpp"

namespace nb = nanobind;

namespace warpfold::python {

std::optional<ElementType> element_type_of(nb::dlpack::dtype type) {
  if (type == nb::dtype<bool>()) return ElementType::u8;
  const auto* const known = std::ranges::find(all_element_types, type, dlpack_type_of);
  return known == std::end(all_element_types) ? std::nullopt : std::optional(*known);
}

nb::dlpack::dtype dlpack_type_of(ElementType type) {
  using Code = nb::dlpack::dtype_code;
  const Code code = type == ElementType::bf16 ? Code::Bfloat
                    : is_floating(type)       ? Code::Float
                    : is_signed_integer(type) ? Code::Int
                                              : Code::UInt;
  return {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(8 * size_of(type)), 1};
}

Array array_of(const HostMemory& memory, const char* type) {
  if (type != nullptr) return {memory.data(), memory.size(), parse_element_type(type)};
  const std::optional<ElementType> known = element_type_of(memory.dtype());
  if (!known)
    throw usage_error("the array has elements of another type", "",
                      "Convert it to integers, float32 or float64.");
  return {memory.data(), memory.size(), *known};
}

std::optional<PackedElements> packed_elements(nb::handle object) {
  HostMemory memory;
  if (!nb::try_cast(object, memory, false)) return std::nullopt;
  const std::optional<ElementType> type = element_type_of(memory.dtype());
  if (!type || reinterpret_cast<std::uintptr_t>(memory.data()) % size_of(*type) != 0)
    return std::nullopt;
  const Array array{memory.data(), memory.size(), *type};
  return PackedElements{std::move(memory), array};
}

}  // namespace warpfold::python
