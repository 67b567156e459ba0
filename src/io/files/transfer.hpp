#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/layout/selection.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace warpfold::io {

/// Reads `part` of a dataset, which has a slice for each of its dimensions and at least an element,
/// through the HDF5 library; the elements arrive packed. Throws Error beginning with `problem`.
/// Call within a LibraryScope.
void read_elements(hid_t dataset, hid_t memory_type, const Selection& part,
                   std::span<std::byte> out, const std::string& problem);

}  // namespace warpfold::io
