#include "pipeline/datasets/plan.hpp"

#include <algorithm>

#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"

namespace warpfold::pipeline {
namespace {

std::uint64_t maximum(std::uint64_t mine, const mpi::Communicator& communicator) {
  return static_cast<std::uint64_t>(
      mpi::maximum({static_cast<double>(mine)}, communicator).front());
}

}  // namespace

Plan plan_reduce(MPI_Comm parent, const io::DatasetInfo& info, const RunOptions& options) {
  const mpi::Communicator communicator(parent);
  run_on_all(communicator, [&] { check_slab_bytes(options.slab_bytes); });
  const io::DatasetInfo shared = share_from_root(info, communicator);
  const ChosenBackend chosen = choose_backend(options, communicator);
  const bool gpu = chosen.backend->name() == "cuda";
  const SlabPlan mine =
      plan_slabs(shared, options, {chosen.place.threads, gpu}, communicator.size());
  const SlabTiling tiling(shared, mpi::minimum({mine.slab_elements}, communicator).front());

  Plan plan;
  plan.run = describe_run(chosen, communicator);
  plan.slab_elements = tiling.max_elements;
  plan.slabs_per_rank = share_of(tiling.slabs.items(), communicator.size(), 0).count;
  const int threads = threads_for(mine, plan.slabs_per_rank);
  const int slots = slots_for(mine, threads);
  plan.threads = static_cast<int>(maximum(static_cast<std::uint64_t>(threads), communicator));
  plan.slots = static_cast<int>(maximum(static_cast<std::uint64_t>(slots), communicator));
  plan.host_memory_bytes =
      static_cast<std::uint64_t>(plan.slots) * plan.slab_elements * size_of(shared.format.type);
  plan.bottleneck = expected_bottleneck(shared, plan.threads, gpu);
  return plan;
}

}  // namespace warpfold::pipeline
