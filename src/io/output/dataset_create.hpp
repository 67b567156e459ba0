#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {

/// Throws a usage Error where the storage options of `spec` fit neither each other nor its shape.
void require_valid_storage(const OutputDataset& spec);

/// Makes the dataset `spec` asks for, in place of one of that name, and the groups above it:
/// contiguous ones are allocated at once and never filled. Throws an Error beginning with
/// `problem`. Call within a LibraryScope.
DatasetHandle create_dataset(hid_t file, const OutputDataset& spec, const std::string& problem);

/// Makes a dataset that is written at once, or never, and the groups above it. Throws an Error
/// beginning with `problem`. Call within a LibraryScope.
DatasetHandle create_small_dataset(hid_t file, const std::string& path, hid_t type, hid_t space,
                                   const std::string& problem);

/// Makes a dataspace of a shape, a scalar's where that is empty. Throws an Error beginning with
/// `problem`.
SpaceHandle make_space(const std::vector<std::uint64_t>& shape, const std::string& problem);

}  // namespace warpfold::io
