#pragma once

#include "io/filters/filter.hpp"

namespace warpfold::io {

/// Lets the HDF5 library, where it lacks a filter that warpfold can undo, do so by warpfold's
/// means: it can't apply the filter then. Returns whether the library can undo it now. Call within
/// a LibraryScope.
bool register_decoder(const Filter& filter);

}  // namespace warpfold::io
