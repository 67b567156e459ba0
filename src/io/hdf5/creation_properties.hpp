#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "io/filters/filter.hpp"

namespace warpfold::io {

/// Returns the filters of a dataset creation property list, in the order they were applied. Makes
/// those that warpfold can undo available to the library.
std::vector<Filter> filters_of(hid_t creation);

/// Throws an Error beginning with `problem` that names the filters this HDF5 cannot undo, if any.
void require_available(const std::vector<Filter>& filters, const std::string& problem);

/// Returns whether HDF5 leaves the buffer as it is for elements that were never written: they have
/// no fill value, or one that is never to be filled in. warpfold takes them for zero then. Throws
/// an Error beginning with `problem`.
bool may_leave_elements_unset(hid_t creation, const std::string& problem);

/// Returns the bytes of one element that was never written, of `file_type`, at most 8. Throws an
/// Error beginning with `problem`.
std::array<std::byte, 8> fill_value_of(hid_t creation, hid_t file_type, const std::string& problem);

/// Returns whether HDF5 lists the chunks of a chunked dataset at other coordinates than theirs. Up
/// to 2.0 it does so for extensible arrays whose unlimited dimension is not the first. Throws an
/// Error beginning with `problem`.
bool lists_chunks_elsewhere(hid_t dataset, const std::string& problem);

/// Returns the raw files of a dataset with external storage, where HDF5 looks for them, and how
/// many bytes each has to have. Throws an Error beginning with `problem`.
std::map<std::string, std::uint64_t> raw_files_of(hid_t dataset, const std::string& problem);

/// Throws where a raw file is not a regular file of so many bytes: HDF5 would wait for a pipe's
/// writer, and take zeros for what a file lacks.
void require_raw_file(const std::string& file, std::uint64_t bytes, const std::string& problem);

}  // namespace warpfold::io
