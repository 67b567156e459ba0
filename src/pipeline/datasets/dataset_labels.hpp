#pragma once

#include <string>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// A dataset of integers that tell, of the elements of another, which belong together: of its shape
/// or of that of its last dimensions, as a mask's is, and as large as it may be.
struct DatasetLabels {
  io::Dataset dataset;  ///< what is selected of it belongs to what is selected of the other
  Decoding decoding;    ///< leaves out the elements that are no labels

  ElementType type() const { return decoding.value_type(dataset.info().format.type); }
};

/// Opens the labels of that name, DATASET or FILE::DATASET, of what a view selects, on every rank,
/// to be read beside it. Collective; throws the same Error on every rank, a usage Error where the
/// shape does not fit or they are no integers.
DatasetLabels open_labels(const std::string& name, DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
