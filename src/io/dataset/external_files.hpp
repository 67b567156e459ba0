#pragma once

#include <hdf5.h>

#include <set>
#include <string>

namespace warpfold::io {

/// The raw files of an open dataset with external storage, where HDF5 looks for them; empty for any
/// other. Throws an Error beginning with `problem`. Call within a LibraryScope.
std::set<std::string> external_files(hid_t dataset, const std::string& problem);

}  // namespace warpfold::io
