#include "pipeline/reduce/label_reduction.hpp"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "core/results/statistic_table.hpp"
#include "core/results/summarize.hpp"
#include "core/values/ordered_key.hpp"
#include "io/dataset/dataset_text.hpp"
#include "io/output/output_target.hpp"
#include "pipeline/labels/label_pipeline.hpp"
#include "pipeline/reduce/reduce_outputs.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

std::vector<LabelSummary> summaries_of(const LabelTotals& totals, const LabelReduction& work) {
  if (totals.labels().size() > max_reported_labels)
    throw Error(
        "there are " + std::to_string(totals.labels().size()) + " labels",
        "at most " + std::to_string(max_reported_labels) + " are reported without an output",
        "Name an output file, or select a part of the dataset.");
  std::vector<LabelSummary> summaries;
  const DatasetLabels& labels = work.labels;
  for (std::uint64_t i = 0; i < totals.labels().size(); ++i) {
    const std::uint64_t bits = bits_of_key(totals.labels()[i], labels.type);
    summaries.push_back({value_of_bits(bits, labels.type),
                         labels.texts.empty() ? "" : labels.texts[bits],
                         summarize(totals.totals().accumulator(i), work.view.value_type(),
                                   work.options.statistics, work.options.summary)});
  }
  return summaries;
}

/// The dimension of outputs that labels make, called as their dataset is.
io::OutputDimension dimension_of(const LabelTotals& totals, const DatasetLabels& labels) {
  io::OutputDimension dimension{labels.name, labels.type};
  for (const std::uint64_t key : totals.labels()) {
    const std::uint64_t bits = bits_of_key(key, labels.type);
    if (labels.texts.empty())
      dimension.numbers.push_back(bits);
    else
      dimension.texts.push_back(labels.texts[bits]);
  }
  return dimension;
}

/// Writes totals, which the root has, into an output file. Collective.
void write_labels(const LabelTotals& totals, LabelReduction& work, ReduceResult& result, Run& run,
                  OutputFile& output_file, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  result.output_shape = {mpi::broadcast(std::uint64_t{totals.labels().size()}, communicator)};
  io::DatasetText input;
  run_on_all(communicator, [&] {
    result.outputs = outputs_of(work.file.dataset, work.view.value_type(), work.options);
    if (!communicator.is_root()) return;
    input = io::read_dataset_text(work.view.info().file, work.view.info().name);
    work.file.added = dimension_of(totals, work.labels);
  });
  add_outputs(work.file, work.view, work.options, result, input);
  work.file.text_attributes.emplace_back("warpfold_by", work.options.by);
  ArrayOutput staged =
      run.reserving.time(0, [&] { return ArrayOutput(work.file, output_file, communicator); });
  OutputTimers timers(&run.monitor.stages());
  AxisWriter writer(targets_of(result.outputs, work.options, staged), result.output_shape,
                    work.options.summary);
  run_on_root(communicator, [&] {
    if (totals.labels().empty()) return;
    writer.write({0, totals.labels().size()}, totals.totals(), timers);
  });
  writer.failure().throw_on_all_ranks(communicator);
  note_sums_of_nothing(writer, work.view.info().name, work.options, run);
  append(stages, timers.timings());
  add_up(stages, staged.finish(run.monitor, run.place.threads));
}

}  // namespace

LabelReduction prepare(const ByLabels& task, DatasetView view, ReduceOptions options, Run& run) {
  DatasetLabels labels = open_labels(options.by, view, run);
  LabelReduction work{task, std::move(view), std::move(options), std::move(labels), {}};
  if (!task.makes_datasets) return work;
  if (may_leave_out_elements(work.view, work.options) &&
      std::ranges::any_of(work.options.statistics, &StatisticRow::is_extremum, row_of))
    work.options.summary.empty = empty_value(work.view, work.options.empty, run.communicator);
  work.file = describe_output(work.options.output, work.view.info(), {}, run);
  work.file.inputs.merge(work.view.auxiliary_files);
  run_on_all(run.communicator, [&] { set_shape(work.file, {0}, work.options.storage); });
  for (io::CarriedDimension& dimension : work.file.dimensions)
    dimension.fate = io::CarriedDimension::Fate::merged;
  run_on_root(run.communicator, [&] { io::require_writable_target(work.file); });
  return work;
}

ReduceResult reduce(LabelReduction& work, Run& run, OutputFile& output_file,
                    std::chrono::steady_clock::time_point start) {
  ReduceResult result;
  std::vector<StageTiming> stages;
  const ReduceNeeds needs = needs_of(work.options.statistics, work.view.value_type());
  const LabelTotals totals = reduce_labels(work.view, work.labels, needs, run, stages);
  if (!work.task.makes_datasets)
    run_on_root(run.communicator, [&] { result.labels = summaries_of(totals, work); });
  else
    write_labels(totals, work, result, run, output_file, stages);
  run_on_all(run.communicator, [&] { run.backend.get(); });
  describe_view(work.view, result);
  result.report = report_of(run, stages, start);
  return result;
}

}  // namespace warpfold::pipeline
