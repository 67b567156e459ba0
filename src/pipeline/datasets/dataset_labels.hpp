#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/axis.hpp"

namespace warpfold::pipeline {

/// Outputs of labels for each index along some dimensions of a view, in row-major order.
struct LabelOutputs {
  std::vector<std::uint64_t> shape;    ///< the kept dimensions, and one of the labels among them
  std::size_t place = 0;               ///< place of that one
  std::vector<std::size_t> kept;       ///< dimensions of the view, rising
  std::vector<std::uint64_t> strides;  ///< strides of these in the outputs
  std::uint64_t label_stride = 1;
};

/// A dataset of integers or texts that tell, of the elements of another, which belong together: of
/// its shape or of that of some of its dimensions, as a mask's is.
struct DatasetLabels {
  std::string name;  ///< the last part of its path
  ElementType type;  ///< type of the labels; for texts that of their numbers
  std::vector<std::uint64_t> shape;
  std::vector<std::size_t> dimensions;      ///< dimensions of the view with these extents
  std::optional<io::Dataset> dataset = {};  ///< labels that are integers, any number of them
  Decoding decoding = {};                   ///< leaves out those that are no labels
  std::vector<std::uint32_t> numbers = {};  ///< numbers of texts, or no_label
  std::vector<std::string> texts = {};      ///< labels by number, rising; on the root
  std::vector<std::uint64_t> keys = {};     ///< ordered_key() of integers by number; on the root
  std::optional<LabelOutputs> outputs = {};
};

/// Opens the labels of that name, DATASET or FILE::DATASET, of what a view selects, on every rank,
/// to be read beside it. Collective; throws the same Error on every rank, a usage Error where the
/// shape does not fit or they are neither integers nor texts.
DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run);

/// Returns whether a name is that of a dataset of numbers with several dimensions. Collective.
bool has_several_dimensions(const std::string& name, const DatasetView& view,
                            const mpi::Communicator& communicator);

/// Returns whether a name is that of texts in all files along which a view was concatenated, which
/// follow one another as these do. Collective.
bool are_joined_texts(const std::string& name, const DatasetView& view,
                      const mpi::Communicator& communicator);

/// Returns all dimensions of a view, first that which labels of one dimension have. Collective.
/// Throws the same Error on every rank, also for labels without exactly one dimension.
std::vector<Axis> axes_from_labels(const std::string& name, const DatasetView& view, Run& run);

/// Returns the groups of an array as labels, which are their numbers, for the array's outputs.
DatasetLabels labels_of_groups(const AxisShape& array);

/// Opens labels that are integers of some of the dimensions `along`, and has every rank keep their
/// numbers in memory, for outputs of each index along the others. Collective; throws the same
/// Error on every rank.
DatasetLabels open_labels_along(const std::string& name, const std::vector<int>& along,
                                DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
