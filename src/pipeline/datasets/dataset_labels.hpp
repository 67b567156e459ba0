#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// A dataset of integers or texts that tell, of the elements of another, which belong together: of
/// its shape or of that of some of its dimensions, as a mask's is.
struct DatasetLabels {
  std::string name;  ///< the last part of its path
  ElementType type;  ///< type of the labels; for texts that of their numbers
  std::vector<std::uint64_t> shape;
  std::vector<std::size_t> dimensions;  ///< of the view's shape, which `shape` has the extents of
  std::optional<io::Dataset> dataset = {};  ///< labels that are integers, any number of them
  Decoding decoding = {};                   ///< leaves out those that are no labels
  std::vector<std::uint32_t> numbers = {};  ///< numbers of texts, or no_label
  std::vector<std::string> texts = {};      ///< labels by number, rising; on the root
};

/// Opens the labels of that name, DATASET or FILE::DATASET, of what a view selects, on every rank,
/// to be read beside it. Collective; throws the same Error on every rank, a usage Error where the
/// shape does not fit or they are neither integers nor texts.
DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
