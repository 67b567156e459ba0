#pragma once

#include <hdf5.h>

#include <set>
#include <string>

namespace warpfold::io {

/// Returns the raw files of an open dataset with external storage, where HDF5 looks for them; empty
/// for any other. Throws an Error beginning with `problem`, also where one is missing. Call within
/// a LibraryScope.
std::set<std::string> external_files(hid_t dataset, const std::string& problem);

/// Returns the files of all sources of a virtual dataset, and of theirs, but `file_path`, which
/// holds `dataset`. Opens them, as HDF5 itself reads the fill value where a source is missing;
/// throws an Error beginning with `problem` that names what is missing or cannot be checked. Call
/// within a LibraryScope.
std::set<std::string> virtual_sources(hid_t dataset, const std::string& file_path,
                                      const std::string& problem);

/// Returns the files of virtual_sources() that are there, or those of external_files(): all that
/// the elements of an open dataset in `file_path` lie in beside that file. Throws an Error
/// beginning with `problem`. Call within a LibraryScope.
std::set<std::string> found_sources(hid_t dataset, const std::string& file_path,
                                    const std::string& problem);

}  // namespace warpfold::io
