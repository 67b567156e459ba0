#pragma once

#include <hdf5.h>

#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/stored_values.hpp"
#include "io/output/carried_dimension.hpp"

namespace warpfold::io {

/// A variable that is carried over beside a dataset.
struct CarriedVariable {
  std::string name;      ///< in its group
  DatasetHandle source;  ///< whose attributes it has; none where the input has no such variable
  StoredValues values;   ///< as they will be stored
  /// For each dimension its number among the dimensions, where it has a name.
  std::vector<std::optional<std::size_t>> dimensions;
  std::optional<std::size_t> bounds = {};  ///< the variable that holds its cells' bounds
  bool are_bounds_of_climatology = false;
  bool is_computed = false;  ///< its values are none of the input's, whatever packs these
  bool is_whole = true;      ///< has all values that the input's variable has
  DatasetHandle made = {};
  DatasetHandle characters = {};  ///< the same as netCDF shows it, for a dimension's texts
};

/// A dimension scale that is carried over, or made for the two bounds of a cell.
struct NamedDimension {
  std::string name;
  hsize_t extent;
  std::optional<std::size_t> variable = {};  ///< its values, if there are some
  bool is_unlimited = false;
  DatasetHandle made = {};
};

/// Coordinates of the elements of outputs, read from the file that they are computed from:
/// dimension scales, variables that its attributes name (`bounds`, `coordinates`, `grid_mapping`).
struct Coordinates {
  std::vector<CarriedVariable> variables;
  std::vector<NamedDimension> dimensions;
  std::vector<std::vector<std::size_t>> of_outputs;  ///< dimensions, for each of an output's
  std::vector<std::size_t> listed;  ///< variables that the attribute `coordinates` is to name
  std::string grid_mapping;         ///< the attribute
  std::vector<std::size_t> mapped;  ///< variables that it names
  std::vector<std::string> notes;   ///< coordinates that outputs lack, a sentence each

  bool empty() const { return variables.empty() && dimensions.empty(); }
};

/// Begins the names of dimensions that have none, as the netCDF library has it.
inline const std::string phony_name = "phony_dim_";

/// The attributes that write_coordinates() writes.
inline const std::string coordinates_name = "coordinates";
inline const std::string grid_mapping_name = "grid_mapping";

/// Attributes that name variables which are not carried over.
inline const std::vector<std::string> names_of_others{"ancillary_variables", "cell_measures",
                                                      "formula_terms"};

/// Says that a variable of the output has not all of the input's attributes.
inline std::string lacks_attributes(const std::string& name) {
  return "'" + name +
         "' lacks attributes of the input's that this HDF5 cannot decode. A newer one can.";
}

/// Reads the coordinates of a dataset, as far as they are left: variables of dimensions that are
/// kept; of a reduced one of 1 element that element; of others, where it has a monotonic scale of
/// numbers, the middle of the cell that all elements make up, and its bounds. Leaves out what can't
/// be read, has another number of elements, no numbers and no text, or more than 256 MiB. Empty
/// where the dataset has no dimension scales. `merged` is the dimension that outputs have where all
/// of the dataset's are merged. Call within a LibraryScope.
Coordinates read_coordinates(hid_t dataset, std::span<const CarriedDimension> dimensions,
                             std::optional<NamedDimension> merged);

/// Writes them into a group of `file`, beside outputs that are to be written later: under their
/// names, or with a number behind where another object has that name. One that is there already
/// and is the same is taken. Throws an Error beginning with `problem`. Call within a LibraryScope.
void write_coordinates(Coordinates& coordinates, hid_t file, const std::string& group,
                       const std::set<std::string>& outputs, const std::string& problem);

/// Ties an output to what was written. Throws and is called likewise.
void attach_coordinates(const Coordinates& coordinates, hid_t output, const std::string& problem);

}  // namespace warpfold::io
