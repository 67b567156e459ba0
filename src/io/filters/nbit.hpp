#pragma once

#include <memory>

#include "io/filters/filter.hpp"
#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Undoes HDF5's n-bit filter of numbers, which stores their significant bits, packed; none for
/// compounds and arrays. The other bits become 0.
std::unique_ptr<FilterStep> make_nbit_step(const Filter& filter);

}  // namespace warpfold::io
