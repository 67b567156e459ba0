#pragma once

#include <hdf5.h>

#include <string>

namespace warpfold::io {

/// Opens every source of a virtual dataset, and theirs. HDF5 itself reads the fill value where a
/// source is missing. Throws an Error beginning with `problem` that names what is missing or cannot
/// be checked. `file_path` is the file that holds `dataset`. Call within a LibraryScope.
void require_virtual_sources(hid_t dataset, const std::string& file_path,
                             const std::string& problem);

}  // namespace warpfold::io
