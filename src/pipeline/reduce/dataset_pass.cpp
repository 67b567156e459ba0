#include "pipeline/reduce/dataset_pass.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "core/values/ordered_key.hpp"
#include "mpi/combine.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

using Range = std::pair<double, double>;
using Limits = std::numeric_limits<double>;

/// Makes the extrema doubles, widened to the next ones where an integer has none.
std::optional<Range> range_of(const Accumulator& whole, ElementType type) {
  if (!whole.minimum.seen()) return std::nullopt;
  if (is_floating(type))
    return Range(std::bit_cast<double>(whole.minimum.bits),
                 std::bit_cast<double>(whole.maximum.bits));
  const int128 minimum = integer_of_bits(whole.minimum.bits, type);
  const int128 maximum = integer_of_bits(whole.maximum.bits, type);
  Range range(static_cast<double>(minimum), static_cast<double>(maximum));
  if (static_cast<int128>(range.first) > minimum)
    range.first = std::nextafter(range.first, -Limits::infinity());
  if (static_cast<int128>(range.second) < maximum)
    range.second = std::nextafter(range.second, Limits::infinity());
  return range;
}

/// Returns on every rank what the root has; nothing where it has nothing.
std::optional<Range> shared(std::optional<Range> range, const mpi::Communicator& communicator) {
  const Range mine = range.value_or(Range(1, 0));
  const auto first =
      std::bit_cast<double>(mpi::broadcast(std::bit_cast<std::uint64_t>(mine.first), communicator));
  const auto second = std::bit_cast<double>(
      mpi::broadcast(std::bit_cast<std::uint64_t>(mine.second), communicator));
  if (first > second) return std::nullopt;
  return Range(first, second);
}

std::optional<Range> extrema(DatasetView& view, Run& run) {
  ReduceNeeds needs;
  needs.extrema = true;
  const ReduceOutcome reduced = reduce_dataset(view, needs, run);
  return shared(range_of(reduced.whole, view.value_type()), run.communicator);
}

/// Leaves infinities out of a filter; returns nothing where it selects nothing else.
std::optional<ValueFilter> without_infinities(ValueFilter filter) {
  // A range that goes round is the two infinities.
  if (filter.minimum > filter.maximum) return std::nullopt;
  filter.minimum = std::max(filter.minimum, ordered_key(Limits::lowest()));
  filter.maximum = std::min(filter.maximum, ordered_key(Limits::max()));
  if (filter.minimum > filter.maximum) return std::nullopt;
  return filter;
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

}  // namespace

ReduceOutcome reduce_dataset(DatasetView& view, const ReduceNeeds& needs, Run& run) {
  ReduceOutcome outcome;
  const auto make = [&](Backend& backend, const StagingPlan& plan) {
    return backend.make_reduce_engine(plan, needs);
  };
  const Accumulator share = pass_dataset(view, run, make, outcome.stages);
  StageTimer combine(run.monitor.stages(), stage::combine);
  outcome.whole =
      combine.time(sizeof(Accumulator), [&] { return mpi::reduce(share, run.communicator); });
  outcome.stages.push_back(combine.timing());
  return outcome;
}

HistogramCounts count_dataset(DatasetView& view, const std::vector<std::uint64_t>& bin_keys,
                              Run& run, std::vector<StageTiming>& stages) {
  const auto make = [&](Backend& backend, const StagingPlan& plan) {
    return backend.make_histogram_engine(plan, bin_keys);
  };
  std::vector<StageTiming> passing;
  const HistogramCounts share = pass_dataset(view, run, make, passing);
  StageTimer combine(run.monitor.stages(), stage::combine);
  HistogramCounts whole = combine.time(share.bins.size() * sizeof(std::uint64_t),
                                       [&] { return whole_of(share, run.communicator); });
  passing.push_back(combine.timing());
  add_up(stages, passing);
  return whole;
}

std::pair<double, double> finite_range(DatasetView& view, Run& run) {
  constexpr Range nothing(0, 1);
  const std::optional<Range> all = extrema(view, run);
  if (!all) return nothing;
  if (std::isfinite(all->first) && std::isfinite(all->second)) return *all;
  const std::optional<ValueFilter> finite_values = without_infinities(view.decoding.values);
  if (!finite_values) return nothing;
  const Decoding decoding = view.decoding;
  view.decoding.values = *finite_values;
  const std::optional<Range> finite = extrema(view, run);
  view.decoding = decoding;
  return finite.value_or(nothing);
}

}  // namespace warpfold::pipeline
