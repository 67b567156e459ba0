#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

namespace warpfold::io {

/// The functions below follow links of all kinds, also into other files, and give paths below an
/// open file or group, sorted, without a leading slash. A dataset with several names has one of
/// them. Links that lead nowhere are among them. They throw Error, and are called within a
/// LibraryScope.

/// Returns the paths of all datasets: those that hard links make where there are such.
std::vector<std::string> dataset_names(hid_t location);

/// Returns those that match a pattern, `*`, `?` and `[...]` standing for what they do in a shell,
/// and for no slash, and those that match what stands before a dot of it: DATASET of
/// DATASET.MEMBER.
std::vector<std::string> dataset_names(hid_t location, const std::string& pattern);

/// Returns whether a path without a leading slash matches a pattern so.
bool matches(const std::string& path, const std::string& pattern);

/// Returns the path of a variable as netCDF's users know it, of that of the dataset that holds it.
std::string variable_name(const std::string& path);

}  // namespace warpfold::io
