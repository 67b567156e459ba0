#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/results/accumulator.hpp"
#include "core/results/histogram_bins.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/reduce/slab_pipeline.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Reads a dataset's elements once: passes this rank's share to the engines that make(backend,
/// plan) gives, and returns what these have in the end; `stages` is what it took, `mine` as
/// pass_slabs() has it. Collective; throws the same Error on every rank, also where the file
/// changed meanwhile.
template <class Make>
auto pass_dataset(DatasetView& view, Run& run, const Make& make, std::vector<StageTiming>& stages,
                  const std::optional<ElementRange>& mine = {}) {
  using Engine = typename std::invoke_result_t<Make, Backend&, const StagingPlan&>::element_type;
  using Result = decltype(std::declval<Engine&>().finish());
  std::optional<Result> share;
  while_unchanged(view, run.communicator, [&] {
    const auto add = [&](StreamEngine& engine, std::uint64_t times) {
      Result part = static_cast<Engine&>(engine).finish();
      part.repeat(times);
      share ? share->merge(part) : void(share = std::move(part));
    };
    stages = pass_slabs(view, make, add, run, mine);
  });
  return *share;
}

struct ReduceOutcome {
  Accumulator whole;  ///< total of all ranks, on the root
  std::vector<StageTiming> stages;
};

/// Reads and reduces a dataset's elements. Collective; throws the same Error on every rank, also
/// where the file changed meanwhile.
ReduceOutcome reduce_dataset(DatasetView& view, const ReduceNeeds& needs, Run& run);

/// Reads a dataset's elements and counts them by the bins of a HistogramEngine, whose keys are
/// `bin_keys`; adds what it took to `stages`. Returns the counts of all ranks, on the root.
/// Collective; throws as reduce_dataset() does.
HistogramCounts count_dataset(DatasetView& view, const std::vector<std::uint64_t>& bin_keys,
                              Run& run, std::vector<StageTiming>& stages);

/// Finds doubles between which all finite elements lie, as close to the minimum and the maximum as
/// doubles are; 0 and 1 where there are none. Reads the dataset once, and again where it has
/// infinities. Collective; the same on every rank. Throws the same Error on every rank.
std::pair<double, double> finite_range(DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
