#include "core/values/unpacking.hpp"

#include <cstdint>

namespace warpfold {
namespace {

constexpr ElementType signed_integers[] = {ElementType::i8, ElementType::i16, ElementType::i32,
                                           ElementType::i64};

ElementType wider(ElementType a, ElementType b) { return size_of(a) < size_of(b) ? b : a; }

ElementType promoted_floats(ElementType a, ElementType b) {
  return a != b && size_of(a) == size_of(b) ? ElementType::f32 : wider(a, b);
}

ElementType promoted_to_float(ElementType floating, ElementType integer) {
  if (size_of(integer) == 1) return floating;
  return wider(floating, size_of(integer) == 2 ? ElementType::f32 : ElementType::f64);
}

/// Returns the type that holds both, or f64 where no integer type does.
ElementType promoted_signs(ElementType with_sign, ElementType without_sign) {
  for (const ElementType type : signed_integers)
    if (size_of(type) > size_of(without_sign)) return wider(with_sign, type);
  return ElementType::f64;
}

/// Returns the type in which NumPy computes with arrays of two types; of float16 and bfloat16 f32.
ElementType promoted_type(ElementType a, ElementType b) {
  if (is_floating(a) && is_floating(b)) return promoted_floats(a, b);
  if (is_floating(a)) return promoted_to_float(a, b);
  if (is_floating(b)) return promoted_to_float(b, a);
  if (is_signed_integer(a) == is_signed_integer(b)) return wider(a, b);
  return is_signed_integer(a) ? promoted_signs(a, b) : promoted_signs(b, a);
}

/// Returns the type that an unpacking computes in where NumPy would in `type`.
ElementType computed_type(ElementType type) {
  if (is_floating(type)) return wider(type, ElementType::f32);
  return is_signed_integer(type) ? ElementType::i64 : ElementType::u64;
}

double real(const Value& value) {
  const auto* integer = std::get_if<int128>(&value);
  return integer != nullptr ? static_cast<double>(*integer) : std::get<double>(value);
}

std::uint64_t whole(const TypedNumber& number) {
  return is_integer(number.type) ? static_cast<std::uint64_t>(std::get<int128>(number.value)) : 0;
}

}  // namespace

Unpacking make_unpacking(ElementType stored, const std::optional<TypedNumber>& scale,
                         const std::optional<TypedNumber>& offset) {
  const ElementType product = scale ? promoted_type(stored, scale->type) : stored;
  Unpacking unpacking;
  unpacking.active = true;
  unpacking.product = computed_type(product);
  unpacking.type = computed_type(offset ? promoted_type(product, offset->type) : product);
  if (scale) {
    unpacking.scale = real(scale->value);
    unpacking.integer_scale = whole(*scale);
  }
  if (offset) {
    unpacking.offset = real(offset->value);
    unpacking.integer_offset = whole(*offset);
  }
  return unpacking;
}

}  // namespace warpfold
