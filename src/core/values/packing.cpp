#include "core/values/packing.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/values/byte_order.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold {
namespace {

bool equal(const ValueFilter& a, const ValueFilter& b) {
  return a.minimum == b.minimum && a.maximum == b.maximum && a.nan == b.nan &&
         std::is_permutation(a.excluded, a.excluded + a.excluded_count, b.excluded,
                             b.excluded + b.excluded_count);
}

bool equal(const Unpacking& a, const Unpacking& b) {
  if (!a.active || !b.active) return a.active == b.active;
  return a.type == b.type && a.scale == b.scale && a.offset == b.offset && a.product == b.product &&
         a.integer_scale == b.integer_scale && a.integer_offset == b.integer_offset;
}

/// Returns the type of unpacked values that holds all values of a type.
ElementType wide_type(ElementType type) {
  if (type == ElementType::f64) return type;
  if (is_floating(type)) return ElementType::f32;
  return type == ElementType::u64 ? type : ElementType::i64;
}

/// Returns whether unpacked values of a type hold all of another one.
constexpr bool holds(ElementType wide, ElementType type) {
  if (wide == ElementType::f64) return is_floating(type) || size_of(type) <= 4;
  if (wide == ElementType::f32)
    return type != ElementType::f64 && size_of(type) <= (is_floating(type) ? 4 : 2);
  if (wide == ElementType::u64) return is_integer(type) && !is_signed_integer(type);
  return is_integer(type) && type != ElementType::u64;
}

/// Returns a value of f32 or f64 that data have least of all.
template <class Real>
double rarest() {
  return std::nextafter(std::numeric_limits<Real>::lowest(), Real{0});
}

/// Returns what stands for elements that are left out: NaN where integers are unpacked, which never
/// give it.
std::uint64_t left_out_value(ElementType type, std::span<const Packing> packings) {
  if (type == ElementType::i64)
    return static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::min());
  if (type == ElementType::u64) return std::numeric_limits<std::uint64_t>::max();
  const bool any_float = std::ranges::any_of(
      packings, [](const Packing& each) { return is_floating(each.format.type) || each.times; });
  if (!any_float) return value_bits(std::numeric_limits<double>::quiet_NaN());
  return value_bits(type == ElementType::f32 ? rarest<float>() : rarest<double>());
}

/// Unpacks at most so many elements at a time, which stay in a core's nearest cache.
constexpr std::size_t most_unpacked = 1024;

template <class Stored, class Number>
Number number_of(Stored element, const Unpacking& unpacking) {
  if constexpr (std::is_same_v<Number, Stored>) {
    if constexpr (std::is_floating_point_v<Number> || sizeof(Number) == sizeof(std::uint64_t))
      if (unpacking.active) return unpacked<Number>(element, unpacking);
    return element;
  } else {
    return unpacked<Number>(element, unpacking);
  }
}

/// Converts times between units; NaN where the other calendar lacks one.
void convert_times(const Packing::Times& times, std::span<double> numbers) {
  for (double& number : numbers)
    number = times.stored.converted(number, times.wanted)
                 .value_or(std::numeric_limits<double>::quiet_NaN());
}

/// Puts `left_out` in place of elements that the filter excludes. Returns whether no other has it.
template <class Stored, class Unpacked>
bool mark_left_out(const ValueFilter& filter, std::span<const Stored> elements,
                   std::span<Unpacked> values, Unpacked left_out) {
  bool distinct = true;
  const bool selects_all = filter.selects_all();
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (!selects_all && !filter.selects(elements[i]))
      values[i] = left_out;
    else
      distinct &= values[i] != left_out;
  }
  return distinct;
}

template <class Stored, class Number, class Unpacked>
bool unpack_all(const Packing& packing, std::optional<std::uint64_t> left_out,
                std::span<const std::byte> stored, std::span<std::byte> values) {
  Stored elements[most_unpacked];
  Unpacked made[most_unpacked];
  bool distinct = true;
  const std::size_t all = values.size() / sizeof(Unpacked);
  for (std::size_t first = 0; first < all; first += most_unpacked) {
    const std::size_t n = std::min(most_unpacked, all - first);
    std::memcpy(static_cast<void*>(elements), stored.data() + first * sizeof(Stored),
                n * sizeof(Stored));
    if (packing.format.order != native_byte_order)
      for (std::size_t i = 0; i < n; ++i) elements[i] = byte_swapped(elements[i]);
    for (std::size_t i = 0; i < n; ++i)
      made[i] =
          converted<Unpacked>(number_of<Stored, Number>(elements[i], packing.decoding.unpacking));
    if constexpr (std::is_same_v<Unpacked, double>)
      if (packing.times) convert_times(*packing.times, {made, n});
    if (left_out)
      distinct &= mark_left_out<Stored, Unpacked>(packing.decoding.stored, {elements, n}, {made, n},
                                                  element_of_bits<Unpacked>(*left_out));
    std::memcpy(values.data() + first * sizeof(Unpacked), made, n * sizeof(Unpacked));
  }
  return distinct;
}

/// Calls visitor(Unpacked{}) with the C++ type of unpacked values that hold those of type Number.
template <class Number, class Visitor>
bool visit_unpacked(ElementType type, Visitor&& visitor) {
  constexpr ElementType number = element_type_of<Number>();
  // Times whose units are converted are f64, also those of 64-bit integers.
  if (type == ElementType::f64) return visitor(double{});
  if constexpr (holds(ElementType::f32, number))
    if (type == ElementType::f32) return visitor(float{});
  if constexpr (holds(ElementType::i64, number))
    if (type == ElementType::i64) return visitor(std::int64_t{});
  if constexpr (holds(ElementType::u64, number))
    if (type == ElementType::u64) return visitor(std::uint64_t{});
  return false;
}

}  // namespace

bool Packing::operator==(const Packing& other) const {
  return format == other.format && times == other.times &&
         equal(decoding.stored, other.decoding.stored) &&
         equal(decoding.unpacking, other.decoding.unpacking);
}

ElementType Packing::value_type() const {
  return times ? ElementType::f64 : decoding.value_type(format.type);
}

std::optional<UnpackedValues> unpacked_values(std::span<const Packing> packings) {
  for (const ElementType type :
       {ElementType::f32, ElementType::i64, ElementType::u64, ElementType::f64}) {
    const auto is_alike = [&](const Packing& each) {
      const ElementType own = each.value_type();
      return type == ElementType::f64 ? is_floating(own) : wide_type(own) == type;
    };
    const auto is_held = [&](const Packing& each) { return holds(type, each.value_type()); };
    if (!std::ranges::any_of(packings, is_alike) || !std::ranges::all_of(packings, is_held))
      continue;
    UnpackedValues form{type};
    if (!std::ranges::all_of(
            packings, [](const Packing& each) { return each.decoding.stored.selects_all(); }))
      form.left_out = left_out_value(type, packings);
    return form;
  }
  return std::nullopt;
}

bool unpack(const Packing& packing, const UnpackedValues& form, std::span<const std::byte> stored,
            std::span<std::byte> values) {
  return visit_element_type(packing.format.type, [&](auto element) {
    using Stored = decltype(element);
    return visit_value_of<Stored>(packing.decoding.unpacking, [&](auto number) {
      using Number = decltype(number);
      return visit_unpacked<Number>(form.type, [&](auto value) {
        return unpack_all<Stored, Number, decltype(value)>(packing, form.left_out, stored, values);
      });
    });
  });
}

}  // namespace warpfold
