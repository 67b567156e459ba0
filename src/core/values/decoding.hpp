#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

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
/// scale + offset, in type `type` (f32 or f64): the stored element converted, multiplied and added
/// to, rounded at each step.
struct Unpacking {
  bool active = false;
  ElementType type = ElementType::f64;
  double scale = 1;      ///< a value of `type`
  double offset = -0.0;  ///< adds nothing, to either zero
};

/// A decoding tells what becomes of a stored element, in native byte order, before it is reduced,
/// scanned, counted or copied: left out if it is no `stored` value, unpacked, left out if it is no
/// `values` value.
struct Decoding {
  ValueFilter stored;
  Unpacking unpacking;
  ValueFilter values;

  WARPFOLD_HD bool selects_all() const { return stored.selects_all() && values.selects_all(); }
  bool trivial() const { return selects_all() && !unpacking.active; }
  ElementType value_type(ElementType stored_type) const {
    return unpacking.active ? unpacking.type : stored_type;
  }
};

/// Returns a stored element's value, of the type (`Value`) that the unpacking has. The product is
/// rounded before the sum, on either backend (neither is compiled with fused operations), and NaN
/// is canonical, so that values are the same bits everywhere.
template <class Value, class Stored>
WARPFOLD_HD Value unpacked(Stored stored, const Unpacking& unpacking) {
  static_assert(std::is_same_v<Value, float> || std::is_same_v<Value, double>);
  Value wide;
  if constexpr (std::is_arithmetic_v<Stored>)
    wide = static_cast<Value>(stored);
  else
    wide = static_cast<Value>(stored.to_float());
  const Value product = wide * static_cast<Value>(unpacking.scale);
  const Value value = product + static_cast<Value>(unpacking.offset);
  return value == value ? value : std::numeric_limits<Value>::quiet_NaN();
}

/// Decodes a stored element: gives it its value, whether it counts or not, and tells whether it
/// does. `Value` is the C++ type of Decoding::value_type(): Stored unless the decoding unpacks.
template <class Value, class Stored>
WARPFOLD_HD bool decode(const Decoding& decoding, Stored stored, Value& value) {
  if constexpr (!std::is_same_v<Value, Stored>) {
    value = unpacked<Value>(stored, decoding.unpacking);
  } else {
    value = stored;
    if constexpr (std::is_floating_point_v<Value>) {
      if (decoding.unpacking.active) value = unpacked<Value>(stored, decoding.unpacking);
    }
  }
  return decoding.stored.selects(stored) && decoding.values.selects(value);
}

}  // namespace warpfold
