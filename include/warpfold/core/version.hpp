#pragma once

#include <string_view>

/// Exact, reproducible reductions and scans of HDF5 datasets and of arrays, over the ranks of an
/// MPI communicator.
namespace warpfold {

/// Returns "MAJOR.MINOR.PATCH" of this library.
std::string_view version();

}  // namespace warpfold
