#pragma once

#include <hdf5.h>

#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/output/coordinates.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {

/// The dataset that outputs are computed from, and what of its file they carry over.
struct OutputSource {
  FileHandle file;
  DatasetHandle dataset;
  Coordinates coordinates;
};

/// Opens what `spec` names, if anything. Throws Error. Call within a LibraryScope.
OutputSource open_source(const OutputSpec& spec);

/// Gives the file what the source's says of its conventions and origin, unless it says so itself.
/// Throws an Error beginning with `problem`. Call within a LibraryScope.
void write_origin(const OutputSource& source, hid_t file, const std::string& problem);

/// Puts the history of `spec` above that of the file, or else of the source. Throws an Error
/// beginning with `problem`. Call within a LibraryScope.
void write_history(const OutputSpec& spec, const OutputSource& source, hid_t file,
                   const std::string& problem);

/// Writes the coordinates of the source beside outputs that the file does not have yet; returns
/// their paths. Throws and is called likewise.
std::vector<std::string> write_coordinates(const OutputSpec& spec, OutputSource& source, hid_t file,
                                           const std::string& problem);

/// Writes the attributes of an output that is in the file, and ties it to its coordinates. Throws
/// and is called likewise.
void write_attributes(const OutputSpec& spec, const OutputDataset& wanted,
                      const OutputSource& source, hid_t dataset, const std::string& problem);

/// Lists all datasets of a file.
std::vector<OutputDataset> datasets_of(const OutputSpec& spec);

}  // namespace warpfold::io
