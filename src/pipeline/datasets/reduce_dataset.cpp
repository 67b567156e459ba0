#include "pipeline/datasets/reduce_dataset.hpp"

#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_pass.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

ReduceOutcome reduce_dataset(DatasetView& view, const ReduceNeeds& needs, Run& run) {
  ReduceOutcome outcome;
  const auto make = [&](Backend& backend, ReducePlan plan) {
    plan.needs = needs;
    return backend.make_reduce_engine(plan);
  };
  const Accumulator share = pass_dataset(view, run, make, outcome.stages);
  StageTimer combine(run.monitor.stages(), stage::combine);
  outcome.whole =
      combine.time(sizeof(Accumulator), [&] { return mpi::reduce(share, run.communicator); });
  outcome.stages.push_back(combine.timing());
  return outcome;
}

}  // namespace warpfold::pipeline
