#include "warpfold/histogram.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "core/results/histogram_bins.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/chosen_datasets.hpp"
#include "pipeline/reduce/dataset_pass.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

void check(const HistogramOptions& options) {
  if (!options.edges.empty()) return check_edges(options.edges);
  if (options.bins == 0 || options.bins > max_histogram_bins)
    throw usage_error("bad number of bins " + std::to_string(options.bins), "",
                      "Choose 1 to " + std::to_string(max_histogram_bins) + ".");
  if (options.range) equal_edges(options.range->first, options.range->second, options.bins);
}

std::vector<double> edges_of(pipeline::DatasetView& view, const HistogramOptions& options,
                             pipeline::Run& run) {
  std::vector<double> edges = options.edges;
  if (edges.empty()) {
    const auto [minimum, maximum] = options.range ? *options.range : finite_range(view, run);
    edges = equal_edges(minimum, maximum, options.bins);
  }
  round_edges(edges, view.value_type());
  return edges;
}

/// The counts of all ranks, on the root.
HistogramCounts whole_of(const HistogramCounts& share, const mpi::Communicator& communicator) {
  std::vector<std::uint64_t> counts = share.bins;
  counts.insert(counts.end(), {share.below, share.above, share.nan});
  counts = mpi::sum(std::move(counts), communicator);
  const std::size_t bins = share.bins.size();
  HistogramCounts whole{{}, counts[bins], counts[bins + 1], counts[bins + 2]};
  counts.resize(bins);
  whole.bins = std::move(counts);
  return whole;
}

HistogramCounts count(pipeline::DatasetView& view, const HistogramBins& bins, pipeline::Run& run,
                      std::vector<StageTiming>& stages) {
  const auto make = [&](Backend& backend, const StagingPlan& plan) {
    return backend.make_histogram_engine(plan, bins.keys());
  };
  const HistogramCounts share = pipeline::pass_dataset(view, run, make, stages);
  StageTimer combine(run.monitor.stages(), stage::combine);
  HistogramCounts whole = combine.time(share.bins.size() * sizeof(std::uint64_t), [&] {
    return bins.by_edges(whole_of(share, run.communicator));
  });
  stages.push_back(combine.timing());
  return whole;
}

HistogramResult histogram_of_view(pipeline::DatasetView& view, const HistogramOptions& options,
                                  pipeline::Run& run, std::chrono::steady_clock::time_point start) {
  HistogramResult result;
  result.edges = edges_of(view, options, run);
  std::vector<StageTiming> stages;
  HistogramCounts whole = count(view, {result.edges, view.value_type()}, run, stages);
  result.counts = std::move(whole.bins);
  result.below = whole.below;
  result.above = whole.above;
  result.nan = whole.nan;
  result.format = view.info().format;
  result.value_type = view.value_type();
  result.applied = view.applied;
  result.shape = view.info().shape;
  result.report = pipeline::report_of(run, stages, start);
  return result;
}

}  // namespace

HistogramResult histogram(MPI_Comm parent, const std::string& file, const std::string& name,
                          const HistogramOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  check(options);
  pipeline::Run run(parent, options.run);
  pipeline::DatasetView view = pipeline::open_view(file, name, options.view, run);
  return histogram_of_view(view, options, run, start);
}

std::vector<DatasetOutcome<HistogramResult>> histogram(MPI_Comm parent, const std::string& file,
                                                       const DatasetChoice& datasets,
                                                       const HistogramOptions& options) {
  check(options);
  pipeline::Run run(parent, options.run);
  return pipeline::for_each_dataset<HistogramResult>(
      file, datasets, options.view, run, [&](pipeline::DatasetView& view) {
        return histogram_of_view(view, options, run, std::chrono::steady_clock::now());
      });
}

}  // namespace warpfold
