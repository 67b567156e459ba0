#pragma once

#include <cstdint>
#include <optional>

#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// This rank's partition of an array that the ranks hold in rank order: `count` elements in native
/// byte order, aligned to their size. May be empty.
struct Array {
  const void* data = nullptr;           ///< may be null if `count` is 0
  std::uint64_t count = 0;              ///< number of elements
  ElementType type = ElementType::f64;  ///< type of elements
};

/// Describes `count` elements from `data` on, of a C++ type that element_type_of() accepts.
template <class T>
Array array_of(const T* data, std::uint64_t count) {
  return {data, count, element_type_of<T>()};
}

/// An array in host memory whose elements are summed, or their products with `factors`. Elements
/// whose byte of the mask is 0 are skipped, including NaN; a null mask selects all.
struct Field {
  Array elements;                      ///< in host memory
  std::optional<Array> factors = {};   ///< same number and type
  const std::uint8_t* mask = nullptr;  ///< one byte per element
};

}  // namespace warpfold
