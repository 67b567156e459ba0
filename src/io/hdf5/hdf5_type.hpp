#pragma once

#include <hdf5.h>

#include <optional>
#include <string>

#include "io/filters/narrow_elements.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {

/// An HDF5 datatype as warpfold sees it.
struct StoredType {
  std::string name;                     ///< "float32 big-endian", "bool", "enum of int8", ...
  std::optional<ElementFormat> format;  ///< none for an unsupported type
  /// Tells whether the stored bits are those of `format`; not so for numbers narrower than their
  /// bytes, floats of one byte and times of 64 bits, which HDF5 converts.
  bool exact = false;
  NarrowElements narrow = {};  ///< numbers that are widened to `format`
};

/// Tells integers and enumerations by size and sign and floats by their fields. Types of one byte
/// get the native byte order. Throws Error only where HDF5 fails.
StoredType describe_type(hid_t type);

/// Returns whether elements are complex numbers: HDF5's own class, or pairs of equal numbers called
/// as h5py (r, i), MATLAB and Octave (real, imag) call them.
bool is_complex(hid_t type);

/// Returns the HDF5 datatype whose elements lie as `format` says.
TypeHandle make_type(ElementFormat format);

/// Says why elements of an unsupported type cannot be read.
std::string unsupported_reason(const StoredType& type);

/// Returns the element types that can be read, for an Error's advice.
std::string supported_types_advice();

}  // namespace warpfold::io
