#pragma once

#include <hdf5.h>

#include <string>

namespace warpfold::io {

/// Why the elements of an open dataset are not those of the MATLAB array (version 7.3 and newer)
/// that it stores, or empty: an array without elements is stored as its extents. Call within a
/// LibraryScope.
std::string reason_against_matlab_array(hid_t dataset);

}  // namespace warpfold::io
