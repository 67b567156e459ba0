#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/axis.hpp"
#include "warpfold/core/summary.hpp"

namespace warpfold::pipeline {

/// Returns the numbers of axes of info.shape, as they are given where they are numbers. Throws the
/// same usage Error on every rank for a name that no dimension has, or several have. Collective.
std::vector<std::int64_t> axis_numbers(std::span<const Axis> axes, const io::DatasetInfo& info,
                                       const mpi::Communicator& communicator);

/// A dimension of a stored shape, and the path of the dataset that has its coordinates, those of
/// the name it is called by where it is; empty where there is none.
struct NamedDimension {
  std::size_t number = 0;
  std::string coordinate;
};

/// Finds a dimension of info.stored_shape. For one rank; throws a usage Error where there is no
/// such one.
NamedDimension named_dimension(const Axis& axis, const io::DatasetInfo& info);

/// Returns the name of each dimension of info.shape, empty where it has none. For one rank; throws
/// Error.
std::vector<std::string> dimension_names(const io::DatasetInfo& info);

/// Name of a dimension, and its first and last coordinate and time.
struct DimensionDescription {
  std::string name;  ///< empty where it has none
  Value first;       ///< coordinate of its first index; nothing where there is none
  Value last;
  std::string first_date;  ///< empty where coordinates are no times
  std::string last_date;
};

/// Describes the dimensions of info.stored_shape. For one rank; throws Error.
std::vector<DimensionDescription> describe_dimensions(const io::DatasetInfo& info);

/// A selection, and the coordinates that it takes by indices whose numbers could be meant as
/// coordinates.
struct NotedSelection {
  Selection selection;
  std::string note;  ///< a sentence; empty if no number could be
};

/// Makes a selection of a dataset as `ViewOptions::select` has it, and looks up names and
/// coordinates in its file. For one rank; throws a usage Error for one that can't be, or an Error.
NotedSelection make_selection(const std::string& text, const io::DatasetInfo& info);

}  // namespace warpfold::pipeline
