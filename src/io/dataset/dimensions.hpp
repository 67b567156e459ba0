#pragma once

#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// A name of a dimension: of one of its dimension scales, or its label.
struct DimensionName {
  std::string name;
  /// The path, in the file that the dataset lies in, of the scale or the times that have a
  /// coordinate for each index; empty where there is none.
  std::string coordinate;
};

/// Lists the names of each of a dataset's dimensions, the one to show first: those of its HDF5
/// dimension scales (netCDF-4's dimensions), which are the last parts of their paths and what their
/// attribute NAME says; of the times that `coordinates` names, where the first scale has no values;
/// and of `DIMENSION_LABELS`, which have the first scale's coordinates. A new one, if it
/// has a name, comes first. Throws Error.
std::vector<std::vector<DimensionName>> read_dimension_names(const std::string& file,
                                                             const std::string& dataset,
                                                             const std::string& new_dimension = "");

/// Lists those of the dimensions of a dataset's stored shape. Throws Error.
inline std::vector<std::vector<DimensionName>> read_dimension_names(const StoredDataset& info) {
  return read_dimension_names(info.file, info.name, info.new_dimension);
}

/// Lists the variables that a dataset's attribute `coordinates` names and that are there: their
/// names, and their paths in the file that the dataset lies in. Throws Error.
std::vector<DimensionName> read_auxiliary_names(const std::string& file,
                                                const std::string& dataset);

}  // namespace warpfold::io
