#pragma once

#include <hdf5.h>

#include <string>

namespace warpfold::io {

/// Says why an open dataset holds no values of its owner's, or empty where it does: MATLAB (version
/// 7.3 and newer) and Octave store the extents of arrays without elements, netCDF-4 nothing for
/// dimensions without a variable. Call within a LibraryScope.
std::string reason_against_placeholder(hid_t dataset);

}  // namespace warpfold::io
