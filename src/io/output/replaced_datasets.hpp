#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

namespace warpfold::io {

/// Marks a dataset as a coordinate of this program, which may go with the datasets that it is for.
/// Throws an Error beginning with `problem`. Call within a LibraryScope.
void mark_coordinate(hid_t dataset, const std::string& problem);

/// Removes the objects at these paths, if any, and the marked coordinates that nothing left in the
/// file may refer to. Throws an Error beginning with `problem`, also where require_removable()
/// does. Call within a LibraryScope.
void remove_replaced(hid_t file, const std::vector<std::string>& paths, const std::string& problem);

}  // namespace warpfold::io
