#include "io/filters/narrow_elements.hpp"

#include <cstring>
#include <type_traits>

#include "core/values/byte_order.hpp"

namespace warpfold::io {
namespace {

using Kind = NarrowElements::Kind;

/// Exponent bits of an infinity, below the sign.
template <class Bits>
constexpr Bits infinity = sizeof(Bits) == 4 ? Bits{0xffU} << 23 : static_cast<Bits>(0x7ffULL << 52);

template <class Bits>
Bits with_full_nan(Bits element) {
  constexpr Bits magnitude = static_cast<Bits>(~Bits{0}) >> 1;
  return (element & magnitude) > infinity<Bits> ? element | magnitude : element;
}

template <class Bits, Kind kind>
Bits in_full_width(Bits element, unsigned above, unsigned unused) {
  element = static_cast<Bits>(element << above);
  if constexpr (kind == Kind::with_sign)
    return static_cast<Bits>(static_cast<std::make_signed_t<Bits>>(element) >> unused);
  element = static_cast<Bits>(element >> unused);
  if constexpr (kind == Kind::floating)
    return with_full_nan(static_cast<Bits>(element << unused));
  else
    return element;
}

template <class Bits, Kind kind>
void widen_all(const NarrowElements& narrow, std::span<std::byte> elements) {
  const unsigned unused = 8 * sizeof(Bits) - narrow.bits;
  const unsigned above = unused - narrow.offset;
  const bool swapped = narrow.order != native_byte_order;
  for (std::size_t at = 0; at + sizeof(Bits) <= elements.size(); at += sizeof(Bits)) {
    Bits element = 0;
    std::memcpy(&element, elements.data() + at, sizeof element);
    if (swapped) element = reversed_bytes(element);
    element = in_full_width<Bits, kind>(element, above, unused);
    if (swapped) element = reversed_bytes(element);
    std::memcpy(elements.data() + at, &element, sizeof element);
  }
}

template <class Bits>
void widen_all(const NarrowElements& narrow, std::span<std::byte> elements) {
  if (narrow.kind == Kind::without_sign) widen_all<Bits, Kind::without_sign>(narrow, elements);
  if (narrow.kind == Kind::with_sign) widen_all<Bits, Kind::with_sign>(narrow, elements);
  if constexpr (sizeof(Bits) >= 4)
    if (narrow.kind == Kind::floating) widen_all<Bits, Kind::floating>(narrow, elements);
}

}  // namespace

void widen(const NarrowElements& narrow, std::size_t element_bytes, std::span<std::byte> elements) {
  if (element_bytes == 1) widen_all<std::uint8_t>(narrow, elements);
  if (element_bytes == 2) widen_all<std::uint16_t>(narrow, elements);
  if (element_bytes == 4) widen_all<std::uint32_t>(narrow, elements);
  if (element_bytes == 8) widen_all<std::uint64_t>(narrow, elements);
}

}  // namespace warpfold::io
