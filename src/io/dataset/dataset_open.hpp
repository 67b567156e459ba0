#pragma once

#include <hdf5.h>

#include <cstddef>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/link_access.hpp"

namespace warpfold::io {

/// "cannot read 'name' in 'file'".
std::string cannot_read(const std::string& file, const std::string& name);

/// Begins the name under which netCDF stores a variable that is called as a dimension, but is not
/// its coordinate.
constexpr const char* non_coordinate_prefix = "_nc4_non_coord_";

/// A name is that of a dataset, or DATASET.MEMBER: of a member of its compound elements.
struct ElementsName {
  std::string dataset;
  std::string member;  ///< empty where whole elements are meant
};

/// Takes a name apart: a dataset that has it as a whole comes first, then those of compound
/// elements that have most of it, up to a dot. `dataset` is the path at which HDF5 has it. Call
/// within a LibraryScope.
ElementsName split_name(hid_t file, const std::string& name);

/// Returns whether a dataset, a member of one, or a link that leads nowhere is called `name`. Call
/// within a LibraryScope.
bool is_there(hid_t file, const std::string& name);

/// Opens the dataset called `name`, or that of a member. Throws an Error beginning with `problem`
/// that says which datasets there are instead, or that `name` is a group; RefusedFile where the
/// dataset needs a file that the rule on external files refuses. `file_path` is for messages. Call
/// within a LibraryScope.
DatasetHandle open_dataset(hid_t file, const std::string& file_path, const std::string& name,
                           const std::string& problem);

/// Opens a dataset by the path that split_name() gave. Throws as open_dataset() does.
DatasetHandle open_stored_dataset(hid_t file, const std::string& file_path, const std::string& path,
                                  const std::string& problem);

inline const std::string cannot_read_variable = "cannot read a variable";

/// Opens the dataset that an attribute of `variable` names: one of its group, or of one above, or
/// by its whole path. Returns none where there is no such dataset; throws RefusedFile. Call within
/// a LibraryScope.
DatasetHandle open_named(hid_t variable, const std::string& name);

/// Opens the variable that an attribute names as netCDF does: first one that is stored under
/// another name, as a dimension has its own. Throws and returns as open_named() does.
DatasetHandle open_netcdf_variable(hid_t variable, const std::string& name);

/// Opens the variable as open_netcdf_variable() does, if it has no dimensions.
DatasetHandle open_netcdf_scalar(hid_t variable, const std::string& name);

/// Returns what a soft or external link leads to; nothing of others. Call within a LibraryScope.
std::string link_text(hid_t file, const std::string& path);

std::string without_leading_slashes(const std::string& path);

/// "'a', 'b', ... and 3 more": at most `most` of `names`.
std::string enumerate(const std::vector<std::string>& names, std::size_t maximum);

}  // namespace warpfold::io
