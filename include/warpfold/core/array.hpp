#pragma once

#include <cstdint>
#include <optional>

#include "warpfold/core/element_type.hpp"

namespace warpfold {

/// An array is this rank's partition of an array that the ranks hold in rank order: `count`
/// elements in native byte order, aligned to their size. May be empty.
struct Array {
  const void* data = nullptr;           ///< may be null where `count` is 0
  std::uint64_t count = 0;              ///< number of elements
  ElementType type = ElementType::f64;  ///< type of elements
};

/// Describes `count` elements from `data` on, of a C++ type that element_type_of() takes.
template <class T>
Array array_of(const T* data, std::uint64_t count) {
  return {data, count, element_type_of<T>()};
}

/// A field is an array in host memory that is to be summed: its elements, or their products with
/// `factors`, as many of the same type. Elements whose byte of the mask is 0 are left out, whatever
/// their value; null selects all.
struct Field {
  Array elements;                      ///< in host memory
  std::optional<Array> factors = {};   ///< as many, of the same type
  const std::uint8_t* mask = nullptr;  ///< a byte for each element
};

}  // namespace warpfold
