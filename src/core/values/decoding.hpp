#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "core/values/mask.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold {

/// A value filter selects values: those whose ordered_key() is one of minimum, minimum + 1, ...
/// maximum, counted modulo 2^64 (so that both infinities alone are a range, too), and none of
/// `excluded`. Keys are those of one element type.
struct ValueFilter {
  static constexpr int max_excluded = 8;

  std::uint64_t minimum = 0;
  std::uint64_t maximum = ~std::uint64_t{0};
  std::uint64_t excluded[max_excluded] = {};
  int excluded_count = 0;
  bool nan = true;  ///< whether NaN counts

  WARPFOLD_HD bool selects_all() const {
    return nan && excluded_count == 0 && minimum == 0 && maximum == ~std::uint64_t{0};
  }

  template <class T>
  WARPFOLD_HD bool selects(T value) const {
    if constexpr (is_floating_element<T>) {
      const double wide = widened(value);
      if (wide != wide) return nan;
    }
    const std::uint64_t key = ordered_key(value);
    if (key - minimum > maximum - minimum) return false;
    for (int i = 0; i < excluded_count; ++i)
      if (key == excluded[i]) return false;
    return true;
  }
};

/// An unpacking turns packed data, as the CF conventions have it, into values: value = stored *
/// scale + offset, the product of one type and the sum of another, each rounded, integers modulo
/// 2^64.
struct Unpacking {
  bool active = false;
  ElementType type = ElementType::f64;  ///< f32 or f64; i64 or u64 for integers alone
  double scale = 1;
  double offset = -0.0;                    ///< adds nothing, to either zero
  ElementType product = ElementType::f64;  ///< one of these, too, and no wider than `type`
  std::uint64_t integer_scale = 1;         ///< factor of an integer product
  std::uint64_t integer_offset = 0;        ///< addend of an integer sum
};

/// A decoding tells what becomes of a stored element, in native byte order, before it is reduced,
/// scanned, counted or copied: left out if it is no `stored` value, unpacked, left out if it is no
/// `values` value or if the mask says so, which goes by its index.
struct Decoding {
  ValueFilter stored;
  Unpacking unpacking;
  ValueFilter values;
  Mask mask;

  WARPFOLD_HD bool selects_all() const {
    return stored.selects_all() && values.selects_all() && mask.selects_all();
  }
  bool trivial() const { return selects_all() && !unpacking.active; }
  ElementType value_type(ElementType stored_type) const {
    return unpacking.active ? unpacking.type : stored_type;
  }
};

/// Converts an element to an arithmetic type.
template <class To, class Element>
WARPFOLD_HD To converted(Element element) {
  if constexpr (std::is_arithmetic_v<Element>)
    return static_cast<To>(element);
  else
    return static_cast<To>(element.to_float());
}

/// Returns stored * scale, rounded to the product's type, as a Value.
template <class Value, class Stored>
WARPFOLD_HD Value unpacked_product(Stored stored, const Unpacking& unpacking) {
  if constexpr (std::is_integral_v<Stored>) {
    const std::uint64_t product = static_cast<std::uint64_t>(stored) * unpacking.integer_scale;
    if (unpacking.product == ElementType::i64)
      return static_cast<Value>(static_cast<std::int64_t>(product));
    if (unpacking.product == ElementType::u64) return static_cast<Value>(product);
  }
  if constexpr (std::is_same_v<Value, double>) {
    if (unpacking.product == ElementType::f32)
      return converted<float>(stored) * static_cast<float>(unpacking.scale);
  }
  return converted<Value>(stored) * static_cast<Value>(unpacking.scale);
}

/// Returns a stored element's value, of the type (`Value`) that the unpacking has. The product is
/// rounded before the sum, on either backend (neither is compiled with fused operations), and NaN
/// is canonical, so that values are the same bits everywhere.
template <class Value, class Stored>
WARPFOLD_HD Value unpacked(Stored stored, const Unpacking& unpacking) {
  const Value product = unpacked_product<Value>(stored, unpacking);
  if constexpr (std::is_integral_v<Value>) {
    return static_cast<Value>(static_cast<std::uint64_t>(product) + unpacking.integer_offset);
  } else {
    const Value value = product + static_cast<Value>(unpacking.offset);
    return value == value ? value : std::numeric_limits<Value>::quiet_NaN();
  }
}

/// Calls visitor(Value{}) with the C++ type of the values of elements of type Stored.
template <class Stored, class Visitor>
constexpr auto visit_value_of(const Unpacking& unpacking, Visitor&& visitor) {
  if (!unpacking.active) return visitor(Stored{});
  if (unpacking.type == ElementType::f32) return visitor(float{});
  if constexpr (std::is_integral_v<Stored>) {
    if (unpacking.type == ElementType::i64) return visitor(std::int64_t{});
    if (unpacking.type == ElementType::u64) return visitor(std::uint64_t{});
  }
  return visitor(double{});
}

/// Decodes a stored element: gives it its value, whether it counts or not, and tells whether it
/// does as far as that is a matter of values. `Value` is the C++ type of Decoding::value_type():
/// Stored unless the decoding unpacks.
template <class Value, class Stored>
WARPFOLD_HD bool decode(const Decoding& decoding, Stored stored, Value& value) {
  if constexpr (!std::is_same_v<Value, Stored>) {
    value = unpacked<Value>(stored, decoding.unpacking);
  } else {
    value = stored;
    if constexpr (std::is_floating_point_v<Value> || sizeof(Value) == sizeof(std::uint64_t)) {
      if (decoding.unpacking.active) value = unpacked<Value>(stored, decoding.unpacking);
    }
  }
  return decoding.stored.selects(stored) && decoding.values.selects(value);
}

}  // namespace warpfold
