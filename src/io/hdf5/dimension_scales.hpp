#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {

/// A dimension scale is a dataset that names a dimension of others, mostly by its values: netCDF's
/// coordinate variable. The functions below throw an Error beginning with `problem`, and are called
/// within a LibraryScope.

bool is_dimension_scale(hid_t dataset, const std::string& problem);

/// Returns whether a scale gives a dimension its name alone: netCDF's dimension without a variable.
/// One of texts has values, though netCDF may show other ones: the same texts as characters.
bool is_without_values(hid_t scale, const std::string& problem);

/// Returns the names of the axes that a NeXus group (NXdata) gives its signals, one for each
/// dimension, empty for none. An axis has its own. None where the dataset is neither.
std::vector<std::string> axes_of_signal(hid_t dataset, const std::string& problem);

/// Returns the scales of each of a dataset's dimensions: those attached to it, or itself, or NeXus'
/// axes with an element for each index. Leaves out those that can't be opened.
std::vector<std::vector<DatasetHandle>> scales_of(hid_t dataset, const std::string& problem);

/// Returns the greatest extent of the dimensions that a scale is attached to.
std::uint64_t longest_extent(hid_t scale, const std::string& problem);

/// Returns whether the one dimension of a scale has no limit: netCDF's record dimension.
bool is_unlimited(hid_t scale, const std::string& problem);

/// Returns whether a variable has times (`units` since a date) for each index of a scale's
/// dimension and of no other.
bool is_time_along(hid_t variable, hid_t scale, const std::string& problem);

/// Returns the name of an object in its group, empty where it has none.
std::string own_name_of(hid_t object, const std::string& problem);

/// Makes a dataset a scale, called as it is in its group, or one without values of `extent`.
void make_scale(hid_t dataset, const std::string& name, const std::string& problem);
void make_scale_without_values(hid_t dataset, std::uint64_t extent, const std::string& problem);

void attach_scale(hid_t dataset, hid_t scale, std::size_t dimension, const std::string& problem);

/// Detaches all scales of a dataset that is to be removed.
void detach_scales(hid_t dataset, const std::string& problem);

/// Returns whether a scale is attached to datasets.
bool is_attached(hid_t scale, const std::string& problem);

}  // namespace warpfold::io
