#pragma once

#include <set>
#include <string>

#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// Makes access properties for paths that external links may lie on. Those to what is no regular
/// file lead nowhere: HDF5 would wait for a pipe's writer. Adds the files that such links lie in to
/// `passed`, if given, which must outlive the properties. Throws Error. Call within a LibraryScope.
PropertiesHandle make_link_access(std::set<std::string>* passed = nullptr);

}  // namespace warpfold::io
