#include "pipeline/reduce/quantiles.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>

#include "core/numeric/special_values.hpp"
#include "core/results/order_search.hpp"
#include "core/results/quantile.hpp"
#include "pipeline/reduce/dataset_pass.hpp"

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

}  // namespace

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

}  // namespace warpfold::pipeline
