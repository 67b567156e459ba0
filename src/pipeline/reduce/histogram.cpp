#include "warpfold/histogram.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "core/results/histogram_bins.hpp"
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

HistogramResult histogram_of_view(pipeline::DatasetView& view, const HistogramOptions& options,
                                  pipeline::Run& run, std::chrono::steady_clock::time_point start) {
  HistogramResult result;
  result.edges = edges_of(view, options, run);
  std::vector<StageTiming> stages;
  const HistogramBins bins(result.edges, view.value_type());
  HistogramCounts whole = bins.by_edges(pipeline::count_dataset(view, bins.keys(), run, stages));
  result.counts = std::move(whole.bins);
  result.below = whole.below;
  result.above = whole.above;
  result.nan = whole.nan;
  pipeline::describe_view(view, result);
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
