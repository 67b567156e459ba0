#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "warpfold/core/float16.hpp"

namespace warpfold {

/// Types of elements. Booleans and enumerations are their integers.
enum class ElementType : std::uint8_t { i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64 };

/// All element types.
inline constexpr ElementType all_element_types[] = {
    ElementType::i8,  ElementType::i16,  ElementType::i32, ElementType::i64,
    ElementType::u8,  ElementType::u16,  ElementType::u32, ElementType::u64,
    ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64};

/// Byte order of stored elements.
enum class ByteOrder : std::uint8_t { little, big };

/// Byte order of this machine.
inline constexpr ByteOrder native_byte_order =
    std::endian::native == std::endian::big ? ByteOrder::big : ByteOrder::little;

/// Format of an element in a file.
struct ElementFormat {
  ElementType type = ElementType::f64;  ///< type of the stored values
  ByteOrder order = native_byte_order;  ///< order of its bytes

  /// Compares both members.
  bool operator==(const ElementFormat&) const = default;
};

/// Calls `visitor` with a value-initialised object of the C++ type that stores `type`.
template <class Visitor>
constexpr decltype(auto) visit_element_type(ElementType type, Visitor&& visitor) {
  switch (type) {
    case ElementType::i8:
      return visitor(std::int8_t{});
    case ElementType::i16:
      return visitor(std::int16_t{});
    case ElementType::i32:
      return visitor(std::int32_t{});
    case ElementType::i64:
      return visitor(std::int64_t{});
    case ElementType::u8:
      return visitor(std::uint8_t{});
    case ElementType::u16:
      return visitor(std::uint16_t{});
    case ElementType::u32:
      return visitor(std::uint32_t{});
    case ElementType::u64:
      return visitor(std::uint64_t{});
    case ElementType::f16:
      return visitor(Float16{});
    case ElementType::bf16:
      return visitor(BFloat16{});
    case ElementType::f32:
      return visitor(float{});
    case ElementType::f64:
      break;
  }
  return visitor(double{});
}

/// Returns the element type of the C++ type T.
template <class T>
constexpr ElementType element_type_of() {
  if constexpr (std::is_same_v<T, double>) {
    return ElementType::f64;
  } else if constexpr (std::is_same_v<T, float>) {
    return ElementType::f32;
  } else if constexpr (std::is_same_v<T, Float16>) {
    return ElementType::f16;
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return ElementType::bf16;
  } else {
    static_assert(std::is_integral_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8,
                  "no element type stores this type");
    constexpr int first = static_cast<int>(std::is_signed_v<T> ? ElementType::i8 : ElementType::u8);
    return static_cast<ElementType>(first + std::countr_zero(sizeof(T)));
  }
}

/// Returns the size of an element in bytes.
constexpr std::size_t size_of(ElementType type) {
  return visit_element_type(type, [](auto element) { return sizeof(element); });
}

/// Returns whether elements are integers, signed or unsigned.
constexpr bool is_integer(ElementType type) { return type <= ElementType::u64; }
/// Returns whether elements are signed integers.
constexpr bool is_signed_integer(ElementType type) { return type <= ElementType::i64; }
/// Returns whether elements are floating-point numbers, of 16 to 64 bits.
constexpr bool is_floating(ElementType type) { return !is_integer(type); }

/// Returns the unsigned type of the same size; other types unchanged.
constexpr ElementType unsigned_type(ElementType type) {
  return is_signed_integer(type)
             ? static_cast<ElementType>(static_cast<int>(type) + static_cast<int>(ElementType::u8))
             : type;
}

/// Whether T is the C++ type of floating-point elements.
template <class T>
inline constexpr bool is_floating_element =
    std::is_floating_point_v<T> || std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

/// Names a type: "i8" to "f64".
std::string_view name_of(ElementType type);

/// Returns the type with this name, or with NumPy's: "int8" to "float64", and "bfloat16". Throws a
/// usage Error that lists the names for an unknown one.
ElementType parse_element_type(std::string_view name);

}  // namespace warpfold
