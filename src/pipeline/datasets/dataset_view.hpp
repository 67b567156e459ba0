#pragma once

#include <string>

#include "core/values/decoding.hpp"
#include "io/dataset/dataset.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/view_options.hpp"

namespace warpfold::pipeline {

/// A dataset as ViewOptions want it: its shape is the selected one, its elements are still to be
/// decoded.
struct DatasetView {
  io::Dataset dataset;
  Decoding decoding;

  const io::DatasetInfo& info() const { return dataset.info(); }
  ElementType value_type() const { return decoding.value_type(info().format.type); }
};

/// Opens a dataset on every rank, the root first, to be read as the run's options say. Collective;
/// throws the same Error on every rank.
DatasetView open_view(const std::string& file, const std::string& dataset,
                      const ViewOptions& options, const Run& run);

}  // namespace warpfold::pipeline
