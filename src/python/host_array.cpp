#include "python/host_array.hpp"

#include <string>

#include "warpfold/core/error.hpp"

namespace nb = nanobind;

namespace warpfold::python {

std::optional<ElementType> element_type_of(nb::dlpack::dtype type) {
  using Code = nb::dlpack::dtype_code;
  const auto is = [&](Code code, int bits) {
    return type.lanes == 1 && type.code == static_cast<std::uint8_t>(code) && type.bits == bits;
  };
  if (is(Code::Bool, 8)) return ElementType::u8;
  if (is(Code::Bfloat, 16)) return ElementType::bf16;
  for (const ElementType known : all_element_types) {
    const int bits = static_cast<int>(8 * size_of(known));
    const Code code = is_floating(known)         ? Code::Float
                      : is_signed_integer(known) ? Code::Int
                                                 : Code::UInt;
    if (known != ElementType::bf16 && is(code, bits)) return known;
  }
  return std::nullopt;
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
