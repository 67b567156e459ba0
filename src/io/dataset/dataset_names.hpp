#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

namespace warpfold::io {

/// The paths of all datasets below an open file or group, sorted, without a leading slash; a
/// dataset with several hard links once. Throws Error. Call within a LibraryScope.
std::vector<std::string> dataset_names(hid_t location);

}  // namespace warpfold::io
