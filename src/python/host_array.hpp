#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <string>

#include "warpfold/core/array.hpp"

namespace warpfold::python {

/// Elements of a NumPy array in native byte order, one behind another; those of bool and bfloat16
/// as integers of their size.
using HostMemory = nanobind::ndarray<nanobind::ro, nanobind::c_contig, nanobind::device::cpu>;

/// Bytes of a mask, 0 where elements don't count; None: all count.
using HostMask =
    std::optional<nanobind::ndarray<const std::uint8_t, nanobind::c_contig, nanobind::device::cpu>>;

/// Returns the elements, which are of the type called `type`. Throws a usage Error for an unknown
/// one.
inline Array array_of(const HostMemory& memory, const std::string& type) {
  return {memory.data(), memory.size(), parse_element_type(type)};
}

inline const std::uint8_t* bytes_of(const HostMask& mask) { return mask ? mask->data() : nullptr; }

}  // namespace warpfold::python
