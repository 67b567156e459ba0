#include "pipeline/reduce/number_reduction.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/results/order_search.hpp"
#include "core/results/quantile.hpp"
#include "core/results/summarize.hpp"
#include "mpi/combine.hpp"
#include "pipeline/reduce/axis_reduce_pipeline.hpp"
#include "pipeline/reduce/axis_writer.hpp"
#include "pipeline/reduce/dataset_pass.hpp"
#include "pipeline/reduce/reduce_outputs.hpp"
#include "pipeline/run/collective.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// The elements between which quantiles lie, known once all are counted.
class Neighbours {
 public:
  Neighbours(const QuantileSpec& spec, const HistogramCounts& counts)
      : poisoned_(spec.nan == NanPolicy::propagate && counts.nan > 0), any_nan_(counts.nan > 0) {
    const std::uint64_t count =
        std::accumulate(counts.bins.begin(), counts.bins.end(), counts.below + counts.above);
    if (count == 0 || poisoned_) return;
    for (const double fraction : spec.fractions) {
      neighbours_.push_back(quantile_neighbours(fraction, spec.method, count));
      orders_.insert(orders_.end(), {neighbours_.back().lower, neighbours_.back().upper});
    }
    std::ranges::sort(orders_);
    orders_.erase(std::unique(orders_.begin(), orders_.end()), orders_.end());
  }

  /// Returns the orders to look for, rising.
  const std::vector<std::uint64_t>& orders() const { return orders_; }

  std::vector<Value> quantiles(const QuantileSpec& spec, const OrderSearch& found) const {
    if (orders_.empty())
      return std::vector<Value>(spec.fractions.size(), any_nan_ ? Value(quiet_nan) : Value());
    const auto value_at = [&](std::uint64_t order) {
      const auto at = std::ranges::lower_bound(orders_, order);
      return found.value(static_cast<std::size_t>(at - orders_.begin()));
    };
    std::vector<Value> values;
    for (const auto& [lower, upper, weight] : neighbours_)
      values.push_back(quantile_between(value_at(lower), value_at(upper), weight));
    return values;
  }

 private:
  bool poisoned_;
  bool any_nan_;
  std::vector<QuantileNeighbours> neighbours_;  ///< none where there is no number to choose
  std::vector<std::uint64_t> orders_;
};

/// Has every rank go on with the root's search.
void share_from_root(OrderSearch& search, const mpi::Communicator& communicator) {
  std::vector<KeyRange> ranges = search.open();
  ranges.resize(mpi::broadcast(std::uint64_t{ranges.size()}, communicator));
  for (KeyRange& range : ranges)
    range = {mpi::broadcast(range.first, communicator), mpi::broadcast(range.last, communicator)};
  search.set_open(std::move(ranges));
}

/// Finds quantiles in passes over a view's elements, as OrderSearch does; of no elements none are,
/// and of any with NaN, propagated, all are NaN. Adds what it took to `stages`. Returns them on the
/// root. Collective; throws the same Error on every rank, also where the file changed meanwhile.
std::vector<Value> find_quantiles(DatasetView& view, const QuantileSpec& spec, Run& run,
                                  std::vector<StageTiming>& stages) {
  OrderSearch search(view.value_type(), view.info().elements);
  std::optional<Neighbours> neighbours;
  while (!search.open().empty()) {
    const HistogramCounts counts = count_dataset(view, search.bin_keys(), run, stages);
    run_on_root(run.communicator, [&] {
      if (!neighbours) neighbours.emplace(spec, counts);
      search.narrow(counts, neighbours->orders());
    });
    share_from_root(search, run.communicator);
  }
  return neighbours ? neighbours->quantiles(spec, search) : std::vector<Value>();
}

/// Reduces all elements of a view, multiplied by factors; the summary counts on the root alone.
/// Collective; throws the same Error on every rank.
Summary summarize_products(DatasetView& view, const ReduceOptions& options,
                           const FactorsOption& factors, Run& run,
                           std::vector<StageTiming>& stages) {
  if (view.info().shape.empty())
    run_on_all(run.communicator, [&] {
      throw usage_error("`" + factors.name + "` is given for '" + view.info().name + "'",
                        "the selection is a single number", "Omit it, or select some elements.");
    });
  std::vector<int> axes(view.info().shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  const AxisShape all(view.info().shape, axes);
  const ReduceNeeds needs = needs_of_products(options.statistics, factors, view.value_type());
  std::vector<std::uint64_t> words(options.statistics.size());
  std::vector<io::ContiguousWriter> writers;
  for (std::uint64_t& word : words)
    writers.emplace_back([&word](std::uint64_t, std::span<const std::byte> bytes) {
      std::memcpy(&word, bytes.data(), bytes.size());
    });
  std::vector<AxisTarget> targets;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Statistic statistic = options.statistics[i];
    targets.push_back(
        {statistic, axis_output_type(statistic, ElementType::f64, std::nullopt), &writers[i]});
  }
  AxisWriter writer(targets, {}, options.summary);
  if (const auto read = read_factors(factors, view, run)) {
    while_unchanged(view, run.communicator,
                    [&] { stages = reduce_rows(view, all, needs, writer, run, read->factors()); });
  } else {
    write_outputs_of_nothing(ElementType::f64, needs, writer, run);
  }
  words = mpi::sum(std::move(words), run.communicator);
  Summary summary;
  for (std::size_t i = 0; i < words.size(); ++i)
    summary.emplace_back(options.statistics[i], is_integer(targets[i].type)
                                                    ? Value(int128{words[i]})
                                                    : Value(std::bit_cast<double>(words[i])));
  return summary;
}

}  // namespace

ReduceResult reduce(NumberReduction& work, Run& run, OutputFile&,
                    std::chrono::steady_clock::time_point start) {
  DatasetView& view = work.view;
  const ReduceOptions& options = work.options;
  ReduceResult result;
  std::vector<StageTiming> stages;
  if (work.task.factors) {
    result.summary = summarize_products(view, options, *work.task.factors, run, stages);
  } else if (!options.statistics.empty() || options.quantiles.empty()) {
    const ReduceNeeds needs = needs_of(options.statistics, view.value_type());
    ReduceOutcome reduced = reduce_dataset(view, needs, run);
    if (run.communicator.is_root()) {
      result.summary =
          summarize(reduced.whole, view.value_type(), options.statistics, options.summary);
      const bool skips = options.summary.nan == NanPolicy::skip;
      result.left_out = {view.info().elements - static_cast<std::uint64_t>(reduced.whole.count),
                         skips ? static_cast<std::uint64_t>(reduced.whole.nan_count) : 0};
    }
    stages = std::move(reduced.stages);
  }
  if (!options.quantiles.empty())
    result.quantiles = find_quantiles(view, quantiles_of(options), run, stages);
  describe_view(view, result);
  result.report = report_of(run, stages, start);
  return result;
}

}  // namespace warpfold::pipeline
