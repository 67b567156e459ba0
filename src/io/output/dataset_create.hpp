#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {

/// Makes the dataset `spec` asks for under a preliminary name: contiguous ones are allocated at
/// once and never filled. HDF5 1.10 writes broken indexes of 65,536 chunks and more where a dataset
/// has no name at all. Throws an Error beginning with `problem`. Call within a LibraryScope.
DatasetHandle create_dataset(hid_t file, const std::string& preliminary_name,
                             const OutputDataset& spec, const std::string& problem);

/// Moves an object from its preliminary name to its path in the file, where nothing is, and makes
/// the groups above it. Throws an Error beginning with `problem`. Call within a LibraryScope.
void give_name(hid_t file, const std::string& preliminary_name, const std::string& path,
               const std::string& problem);

/// Throws an Error beginning with `problem` where a link leads from the groups on a path to another
/// file, or nowhere. Call within a LibraryScope.
void require_own_groups(hid_t file, const std::string& path, const std::string& problem);

/// Tells whether a file has a link of that path, wherever that leads. Throws and is called
/// likewise.
bool is_there(hid_t file, const std::string& path, const std::string& problem);

/// Throws an Error beginning with `problem` where another dataset can't take the place of what a
/// path leads to. Call within a LibraryScope.
void require_removable(hid_t file, const std::string& path, const std::string& problem);

/// Returns the first element of chunk `number`, in row-major order, of a dataset that
/// create_dataset() made.
std::vector<hsize_t> origin_of_chunk(const OutputDataset& spec, std::uint64_t number);

/// Makes a dataset of a coordinate, written at once or never, and the groups above it; one that
/// netCDF takes for an unlimited dimension is chunked along that. Throws an Error beginning with
/// `problem`. Call within a LibraryScope.
DatasetHandle create_coordinate(hid_t file, const std::string& path, hid_t type, hid_t space,
                                bool is_unlimited, const std::string& problem);

/// Returns the extents of a dataspace that is not null. Throws an Error beginning with `problem`.
/// Call within a LibraryScope.
std::vector<std::uint64_t> extents_of(hid_t space, const std::string& problem);

}  // namespace warpfold::io
