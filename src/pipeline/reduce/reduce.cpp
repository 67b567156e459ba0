#include "warpfold/reduce.hpp"

#include <chrono>
#include <utility>
#include <variant>

#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/reduce/axis_work.hpp"
#include "pipeline/reduce/number_reduction.hpp"
#include "pipeline/reduce/reduce_task.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold {

ReduceResult reduce(MPI_Comm parent, const std::string& file, const std::string& name,
                    const ReduceOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  const pipeline::ReduceTask any_task = pipeline::task_of(options);
  pipeline::Run run(parent, options.run, pipeline::line_quantiles_of(options));
  pipeline::OutputFile output(run.communicator);
  return std::visit(
      [&](const auto& task) {
        auto work = prepare(task, pipeline::open_view(file, name, options.view, run), options, run);
        ReduceResult result = reduce(work, run, output, start);
        if (task.makes_datasets && !options.output.path.empty())
          output.commit(result.report, run.monitor.stages());
        result.report.seconds = pipeline::seconds_since(start);
        return result;
      },
      any_task);
}

std::vector<DatasetOutcome<ReduceResult>> reduce(MPI_Comm parent, const std::string& file,
                                                 const DatasetChoice& datasets,
                                                 const ReduceOptions& options) {
  const pipeline::ReduceTask any_task = pipeline::task_of(options);
  pipeline::Run run(parent, options.run, pipeline::line_quantiles_of(options));
  pipeline::OutputFile output(run.communicator);
  return std::visit(
      [&](const auto& task) {
        const auto prepare_one = [&](pipeline::DatasetView view) {
          return prepare(task, std::move(view), options, run);
        };
        const auto reduce_one = [&](auto& work) {
          return reduce(work, run, output, std::chrono::steady_clock::now());
        };
        if (!task.makes_datasets)
          return pipeline::for_each_dataset<ReduceResult>(
              file, datasets, options.view, run, [&](pipeline::DatasetView& view) {
                auto work = prepare_one(std::move(view));
                return reduce_one(work);
              });
        auto outcomes = pipeline::for_each_output<ReduceResult>(
            file, datasets, options.view, options.output, run, prepare_one, reduce_one);
        if (!options.output.path.empty()) output.commit(outcomes, run.monitor.stages());
        return outcomes;
      },
      any_task);
}

}  // namespace warpfold
