#include "warpfold/axis_reduce.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "io/output/output.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/datasets/view_decoding.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/axis_reduce_pipeline.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/regions/axis_cut.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/version.hpp"

namespace warpfold {
namespace {

using pipeline::AxisShape;
using pipeline::DatasetView;

/// Whether a statistic has the unit of the elements.
bool has_unit_of_elements(Statistic statistic) {
  switch (statistic) {
    case Statistic::sum:
    case Statistic::mean:
    case Statistic::std:
    case Statistic::min:
    case Statistic::max:
    case Statistic::l1:
    case Statistic::l2:
    case Statistic::linf:
      return true;
    case Statistic::count:
    case Statistic::var:
    case Statistic::argmin:
    case Statistic::argmax:
    case Statistic::nan_count:
    case Statistic::inf_count:
      break;
  }
  return false;
}

bool needs_elements(Statistic statistic) {
  return statistic == Statistic::min || statistic == Statistic::max ||
         statistic == Statistic::argmin || statistic == Statistic::argmax;
}

/// Throws where an extremum of nothing is asked for, as NumPy does.
void require_rows(const AxisShape& array, const AxisReduceOptions& options) {
  if (array.rows() > 0 || array.outputs() == 0) return;
  const auto found =
      std::find_if(options.statistics.begin(), options.statistics.end(), needs_elements);
  if (found != options.statistics.end())
    throw Error("there is no " + std::string(name_of(*found)) + " along these axes",
                "they hold no elements", "Ask for others with --ops.");
}

AxisShape array_of(const io::DatasetInfo& info, const AxisReduceOptions& options) {
  if (options.axes.empty())
    throw usage_error("no axis is given", "", "Name one, such as --axis 0.");
  return {info.shape, pipeline::resolve_axes(options.axes, info.shape)};
}

/// One dataset of the name, or a group of that name with one for each statistic.
std::vector<AxisOutput> outputs_of(const DatasetView& view, const AxisReduceOptions& options) {
  const std::string base =
      options.output_dataset.empty() ? view.info().name : options.output_dataset;
  std::vector<AxisOutput> outputs;
  for (const Statistic statistic : options.statistics)
    outputs.push_back(
        {statistic,
         options.statistics.size() == 1 ? base : base + "/" + std::string(name_of(statistic)),
         axis_output_type(statistic, view.value_type(), options.output_type)});
  return outputs;
}

std::string axes_text(const AxisShape& array) {
  std::string text;
  for (const int axis : array.along) {
    if (!text.empty()) text += ',';
    text += std::to_string(axis);
  }
  return text;
}

/// Of an output as it is stored.
std::vector<std::uint64_t> stored_shape(const AxisShape& array, const AxisReduceOptions& options) {
  if (!options.keep_dimensions) return array.output_shape();
  std::vector<std::uint64_t> shape = array.shape;
  for (const int axis : array.along) shape[static_cast<std::size_t>(axis)] = 1;
  return shape;
}

io::OutputSpec file_of(const io::DatasetInfo& info, const AxisShape& array,
                       const std::vector<AxisOutput>& outputs, const AxisReduceOptions& options) {
  io::OutputSpec file;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    io::OutputDataset& dataset = i == 0 ? file : file.others.emplace_back();
    dataset.dataset = outputs[i].dataset;
    dataset.shape = stored_shape(array, options);
    dataset.format = {outputs[i].type, native_byte_order};
    dataset.carries_attributes = has_unit_of_elements(outputs[i].statistic);
  }
  file.path = options.output;
  file.force = options.force;
  file.inputs = io::input_files(info);
  file.attributes_from = {info.file, info.name};
  file.dropped_attributes = pipeline::element_attributes();
  file.text_attributes = {{"warpfold_command", options.history},
                          {"warpfold_version", std::string(version())},
                          {"warpfold_input", info.file + ":" + info.name},
                          {"warpfold_axis", axes_text(array)}};
  return file;
}

std::vector<pipeline::AxisTarget> targets_of(const std::vector<AxisOutput>& outputs,
                                             pipeline::StagedDataset& staged) {
  std::vector<pipeline::AxisTarget> targets;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    targets.push_back({outputs[i].statistic, outputs[i].type, staged.writer(i)});
  return targets;
}

/// Fills the staged datasets of a file that has outputs. Collective.
std::vector<StageTiming> fill(pipeline::StagedDataset& staged,
                              const std::vector<AxisOutput>& outputs, DatasetView& view,
                              const AxisShape& array, const AxisReduceOptions& options,
                              pipeline::Run& run) {
  const ReduceNeeds needs = needs_of(options.statistics, view.value_type());
  pipeline::AxisWriter writer(targets_of(outputs, staged), array.output_shape(), options.summary);
  if (array.rows() > 0) return pipeline::reduce_rows(view, array, needs, writer, run);
  pipeline::write_outputs_of_nothing(view.value_type(), needs, writer, run);
  return {};
}

}  // namespace

AxisReduceResult reduce_axes(MPI_Comm parent, const std::string& file, const std::string& name,
                             const AxisReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  pipeline::Run run(parent, options.run);
  DatasetView view =
      pipeline::open_view(file, name, options.view, options.run.read_path, run.communicator);
  std::optional<AxisShape> array;
  AxisReduceResult result;
  pipeline::run_on_all(run.communicator, [&] {
    array = array_of(view.info(), options);
    result.outputs = outputs_of(view, options);
    require_rows(*array, options);
  });
  pipeline::StagedDataset staged(file_of(view.info(), *array, result.outputs, options),
                                 run.communicator);
  std::vector<StageTiming> stages;
  if (array->outputs() > 0) stages = fill(staged, result.outputs, view, *array, options, run);
  pipeline::run_on_all(run.communicator, [&] {
    view.dataset.require_unchanged();
    run.backend.get();
  });
  staged.commit();

  result.input = view.info().format;
  result.value_type = view.value_type();
  result.shape = view.info().shape;
  result.axes = array->along;
  result.output_shape = stored_shape(*array, options);
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace warpfold
