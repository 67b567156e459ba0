#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// The filters of a dataset creation property list, in the order they were applied.
std::vector<Filter> filters_of(hid_t creation);

/// Throws an Error beginning with `problem` that names the filters this HDF5 cannot undo, if any.
void require_available(const std::vector<Filter>& filters, const std::string& problem);

}  // namespace warpfold::io
