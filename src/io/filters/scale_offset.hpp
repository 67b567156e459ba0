#pragma once

#include <memory>

#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Undoes HDF5's scale-offset filter of integers, or of floats scaled by a power of ten; none for
/// other parameters. A chunk has, little-endian: the bits of an integer in 4 bytes, the bytes of
/// the least element in 1, that element in 16; then for each element the integer that it exceeds
/// the least one by, packed, with all bits set for the fill value. Integers as wide as elements are
/// the elements.
std::unique_ptr<FilterStep> make_scale_offset_step(const Filter& filter);

}  // namespace warpfold::io
