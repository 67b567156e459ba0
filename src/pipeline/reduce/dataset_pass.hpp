#pragma once

#include <type_traits>
#include <vector>

#include "core/results/accumulator.hpp"
#include "pipeline/datasets/dataset_view.hpp"
#include "pipeline/reduce/slab_pipeline.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {

/// Reads a dataset's elements once: passes this rank's share to the engine that make(backend, plan)
/// gives, and returns what that has in the end; `stages` is what it took. Collective; throws the
/// same Error on every rank, also where the file changed meanwhile.
template <class Make>
auto pass_dataset(DatasetView& view, Run& run, const Make& make, std::vector<StageTiming>& stages) {
  using Engine = typename std::invoke_result_t<Make, Backend&, const StagingPlan&>::element_type;
  Engine* engine = nullptr;
  const auto make_known = [&](Backend& backend, const StagingPlan& plan) {
    auto made = make(backend, plan);
    engine = made.get();
    return made;
  };
  const SlabSetup setup = set_up_slabs(view, make_known, run);
  decltype(engine->finish()) share;
  stages = pass_slabs(
      setup, [&] { share = engine->finish(); }, view.info(), run);
  run_on_all(run.communicator, [&] { view.dataset.require_unchanged(); });
  return share;
}

struct ReduceOutcome {
  Accumulator whole;  ///< of all ranks, on the root
  std::vector<StageTiming> stages;
};

/// Reads and reduces a dataset's elements. Collective; throws the same Error on every rank, also
/// where the file changed meanwhile.
ReduceOutcome reduce_dataset(DatasetView& view, const ReduceNeeds& needs, Run& run);

/// Finds doubles between which all finite elements lie, as close to the minimum and the maximum as
/// doubles are; 0 and 1 where there are none. Reads the dataset once, and again where it has
/// infinities. Collective; the same on every rank. Throws the same Error on every rank.
std::pair<double, double> finite_range(DatasetView& view, Run& run);

}  // namespace warpfold::pipeline
