#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/meaning/dataset_name.hpp"
#include "warpfold/core/read_path.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// Opens the datasets called `name` of options.files as one, along options.concat. For one rank.
/// Values are unpacked where files have packings of their own, as the options have their attributes
/// applied. Throws as io::Dataset does, and an Error that names two files whose units or grids
/// differ.
io::Dataset open_concatenated(const std::string& name, const ViewOptions& options, ReadPath path);

/// Opens the coordinate of one of a dataset's stored dimensions, at `path` of the file that the
/// dataset lies in; those of all files along which it was concatenated. None where there is none,
/// as it has not one element for each index, or there are no indices. Times are in the units of the
/// first file. For one rank. Throws Error where a file can't be read, or other units differ.
std::optional<io::Dataset> open_coordinate(const io::DatasetInfo& info, std::size_t dimension,
                                           const std::string& path);

/// Returns the dimension along which datasets beside another, which was concatenated, follow one
/// another in all of its files: where it has the same name and the option names no file. For one
/// rank.
std::optional<std::size_t> joined_dimension(const NamedDataset& named, const io::DatasetInfo& info);

/// Throws Error where a dataset of two files has other units or calendars. For one rank.
void require_same_units(const std::string& name, const std::string& first, const std::string& file);

/// Throws Error where a dataset beside another has another extent in one of the files.
void require_extent(const std::string& name, std::uint64_t extent, std::uint64_t of_dataset,
                    const std::string& dataset, const std::string& file);

/// Opens a dataset beside another; those of all files where they have a joined_dimension(). For one
/// rank. Throws Error where a file can't be read, or has another extent of it.
io::Dataset open_named_beside(const NamedDataset& named, const io::DatasetInfo& info);

/// Returns the files that names and patterns (`*`, `?` and `[...]`, as in a shell) stand for, each
/// pattern's in the order of names, numbers in them by their value. Collective; throws the same
/// Error on every rank, one that names a pattern without files.
std::vector<std::string> matching_files(const std::vector<std::string>& names,
                                        const mpi::Communicator& communicator);

}  // namespace warpfold::pipeline
