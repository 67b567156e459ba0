#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "warpfold/core/element_type.hpp"

namespace warpfold::io {

/// The significant bits of numbers that have fewer than their bytes.
struct NarrowElements {
  enum class Kind : std::uint8_t {
    whole,  ///< all bits are significant
    without_sign,
    with_sign,
    floating,  ///< sign, exponent and first bits of the mantissa of a float as wide as the bytes
  };

  Kind kind = Kind::whole;
  ByteOrder order = native_byte_order;
  unsigned bits = 0;
  unsigned offset = 0;  ///< bits below them

  bool operator==(const NarrowElements&) const = default;
};

/// Makes whole numbers of elements of 1, 2, 4 or 8 bytes (floats of 4 or 8) in place, in the same
/// byte order, as HDF5 converts them: of a NaN, all bits of the mantissa are set.
void widen(const NarrowElements& narrow, std::size_t element_bytes, std::span<std::byte> elements);

}  // namespace warpfold::io
