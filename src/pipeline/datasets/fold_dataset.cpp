#include "pipeline/datasets/fold_dataset.hpp"

#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_pass.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

FoldOutcome fold_dataset(DatasetView& view, const FoldNeeds& needs, Run& run) {
  FoldOutcome outcome;
  const auto make = [&](Backend& backend, FoldPlan plan) {
    plan.needs = needs;
    return backend.make_fold_engine(plan);
  };
  const Accumulator share = pass_dataset(view, run, make, outcome.stages);
  StageClock combine(run.watch.stages(), stage::combine);
  outcome.whole =
      combine.time(sizeof(Accumulator), [&] { return mpi::reduce(share, run.communicator); });
  outcome.stages.push_back(combine.timing());
  return outcome;
}

}  // namespace warpfold::pipeline
