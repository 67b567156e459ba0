#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::io {

/// Interprets a dataset as netCDF does, beyond what HDF5 defines. The functions below throw an
/// Error beginning with `problem`, and are called within a LibraryScope.

/// Returns whether a dataset is a variable of netCDF's: the file, the dataset or one of its
/// dimension scales has one of the attributes that netCDF libraries write for themselves.
bool is_netcdf_variable(hid_t dataset, const std::string& problem);

/// Returns the value of elements that were never written where a variable has no `_FillValue`:
/// NC_FILL_FLOAT and the like.
Value netcdf_default_fill(ElementType type);

/// Returns whether elements of that value are missing in a netCDF variable: where it has no
/// `_FillValue`, is filled at all, and is not of bytes.
bool has_default_fill(hid_t dataset, hid_t creation, ElementType type, const std::string& problem);

/// Returns the extents that a netCDF variable of `shape` has: those of its unlimited dimensions,
/// which may have more records than are stored of it.
std::vector<std::uint64_t> with_missing_records(hid_t dataset, std::vector<std::uint64_t> shape,
                                                const std::string& problem);

/// Returns an element of `stored_type`, the dataset's, as records are filled that are missing.
std::array<std::byte, 8> element_of_missing_records(hid_t dataset, hid_t stored_type,
                                                    ElementType type, const std::string& problem);

}  // namespace warpfold::io
