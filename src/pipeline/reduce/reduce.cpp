#include "warpfold/reduce.hpp"

#include <chrono>

#include "core/results/summarize.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/reduce/axis_reduce.hpp"
#include "pipeline/reduce/dataset_pass.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

ReduceResult reduce_view(pipeline::DatasetView& view, const ReduceOptions& options,
                         pipeline::Run& run, std::chrono::steady_clock::time_point start) {
  if (!options.axes.empty()) return pipeline::reduce_along_axes(view, options, run, start);
  const ReduceNeeds needs = needs_of(options.statistics, view.value_type());
  const pipeline::ReduceOutcome reduced = pipeline::reduce_dataset(view, needs, run);
  ReduceResult result;
  result.format = view.info().format;
  result.value_type = view.value_type();
  result.shape = view.info().shape;
  if (run.communicator.is_root())
    result.summary =
        summarize(reduced.whole, view.value_type(), options.statistics, options.summary);
  result.report = pipeline::report_of(run, reduced.stages, start);
  return result;
}

}  // namespace

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  pipeline::Run run(parent, options.run);
  pipeline::DatasetView view = pipeline::open_view(file, name, options.view, run);
  return reduce_view(view, options, run, start);
}

std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm parent, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options) {
  if (!options.axes.empty())
    throw usage_error("several datasets are to be reduced along axes", "each would be a file",
                      "Name one dataset.");
  pipeline::Run run(parent, options.run);
  return pipeline::for_each_dataset<ReduceResult>(
      file, datasets, options.view, run, [&](pipeline::DatasetView& view) {
        return reduce_view(view, options, run, std::chrono::steady_clock::now());
      });
}

}  // namespace warpfold
