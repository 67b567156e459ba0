#pragma once

#include <span>
#include <string>
#include <vector>

#include "io/dataset/dataset_text.hpp"
#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/reduce/place_coordinates.hpp"
#include "warpfold/reduce.hpp"

/// Statistics as the datasets of a file.
namespace warpfold::pipeline {

/// Returns whether the results may be of fewer elements than the view has.
bool may_leave_out_elements(const DatasetView& view, const ReduceOptions& options);

/// Names one dataset `name`, or of several statistics and quantiles one for each, after it; of
/// places that are coordinates one for each of these.
std::vector<AxisOutput> outputs_of(const std::string& name, ElementType values,
                                   const ReduceOptions& options,
                                   std::span<const PlaceCoordinate> places);

/// Throws a usage Error where outputs have no file, and are more numbers than are reported.
void require_few(const std::vector<AxisOutput>& outputs, const std::vector<std::uint64_t>& shape,
                 const OutputOptions& options);

/// Throws an Error where there are more labels than are reported.
void require_few_labels(std::uint64_t labels);

/// Adds the outputs of a result to a file that describe_output() made, and to the result what their
/// numbers mean. `input` is what the view's dataset says of itself.
void add_outputs(io::OutputSpec& file, const DatasetView& view, const ReduceOptions& options,
                 ReduceResult& result, const io::DatasetText& input);

/// Returns where this rank writes each output. Collective.
std::vector<AxisTarget> targets_of(const std::vector<AxisOutput>& outputs,
                                   const ReduceOptions& options,
                                   std::span<const PlaceCoordinate> places, ArrayOutput& file);

/// Gives the file its datasets; where there is none, the result their numbers. Adds what it took to
/// `stages`. Collective; throws the same Error on every rank.
void finish_outputs(ArrayOutput& staged, ReduceResult& result, Run& run,
                    std::vector<StageTiming>& stages);

/// Notes how many sums of a dataset have no elements, and how many extrema have the value of
/// missing ones. Collective.
void note_results_of_nothing(const AxisWriter& writer, const std::string& dataset,
                             const ReduceOptions& options, Run& run);

/// Says in a result, and in an output, along which axes elements are reduced. Collective.
void describe_axes(const std::vector<int>& along, const DatasetView& view, ReduceResult& result,
                   io::OutputSpec& file, Run& run);

}  // namespace warpfold::pipeline
