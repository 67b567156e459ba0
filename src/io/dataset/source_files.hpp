#pragma once

#include <hdf5.h>

#include <set>
#include <string>

namespace warpfold::io {

/// Returns the files that the elements of an open dataset lie in beside `file_path`, which holds
/// it: its raw files, or those of all sources of a virtual dataset, and of theirs. Opens them, as
/// HDF5 itself reads the fill value where a source is missing; throws an Error beginning with
/// `problem` that names what is missing, cannot be checked, or cannot be decoded. Call within a
/// LibraryScope.
std::set<std::string> source_files(hid_t dataset, const std::string& file_path,
                                   const std::string& problem);

/// Returns the files that external links on the way to `path` lie in. Throws Error. Call within a
/// LibraryScope.
std::set<std::string> files_passed(hid_t file, const std::string& path);

/// Returns those of source_files() that are named, also where some are missing. Call within a
/// LibraryScope.
std::set<std::string> found_sources(hid_t dataset, const std::string& file_path,
                                    const std::string& problem);

}  // namespace warpfold::io
