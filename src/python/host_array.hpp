#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <optional>

#include "warpfold/core/array.hpp"

namespace warpfold::python {

/// Elements of an array in host memory in native byte order, one behind another.
using HostMemory = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// Bytes of a mask, 0 where elements don't count; None: all count.
using HostMask =
    std::optional<nanobind::ndarray<const std::uint8_t, nanobind::c_contig, nanobind::device::cpu>>;

/// Returns the type of elements as DLPack tells it, of booleans that of their bytes; nothing for
/// one that warpfold has not.
std::optional<ElementType> element_type_of(nanobind::dlpack::dtype type);

/// Returns a type as DLPack tells it.
nanobind::dlpack::dtype dlpack_type_of(ElementType type);

/// Returns the elements; `type` is that of integers that stand for others (bfloat16), null
/// elsewhere. Throws a usage Error for a type that warpfold has not.
Array array_of(const HostMemory& memory, const char* type);

/// Packed elements are what can be taken as it lies, with what keeps it alive.
struct PackedElements {
  HostMemory memory;
  Array array;
};

/// Returns those of an object where all lie one behind another, aligned, in native byte order;
/// nothing for any other object.
std::optional<PackedElements> packed_elements(nanobind::handle object);

inline const std::uint8_t* bytes_of(const HostMask& mask) { return mask ? mask->data() : nullptr; }

/// Lets other threads of Python run while an array is taken, unless that takes less time than to
/// change threads.
class ReleasedForLong {
 public:
  explicit ReleasedForLong(const Array& array) {
    if (array.count >= long_elements) released_.emplace();
  }

 private:
  static constexpr std::uint64_t long_elements = 16384;

  std::optional<nanobind::gil_scoped_release> released_;
};

}  // namespace warpfold::python
