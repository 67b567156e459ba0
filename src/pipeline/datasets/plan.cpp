#include "pipeline/datasets/plan.hpp"

#include <algorithm>

#include "core/results/summarize.hpp"
#include "core/scan/scan_spec.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/regions/block_plan.hpp"
#include "pipeline/regions/slab_plan.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {
namespace {

/// Plans the work of one run; what it says of a rank is of this one.
class Planner {
 public:
  Planner(const io::DatasetInfo& info, ElementType value_type, Run& run)
      : info_(info),
        value_type_(value_type),
        run_(run),
        ranks_(run.communicator.size()),
        rank_(run.communicator.rank()) {}

  Plan slabs() {
    const SlabPlan mine = plan_slabs(info_, run_);
    if (run_.shares(info_)) run_.cores();
    const SlabTiling tiling(info_, mpi::minimum({mine.slab_elements}, run_.communicator).front());
    const ElementRange share = share_of(tiling.slabs.items(), ranks_, rank_);
    plan_.threads = threads_for(mine, share.count);
    plan_.slots = slots_for(mine, plan_.threads);
    plan_.unit_elements = tiling.max_elements;
    plan_.items = tiling.slabs.items();
    for (std::uint64_t slab = share.first; slab < share.end(); ++slab)
      add_item(elements_of(tiling, slab));
    Plan plan = of_all_ranks();
    plan.bottleneck = expected_bottleneck(info_, plan.threads, ranks_, run_.place.gpu.has_value());
    return plan;
  }

  Plan blocks(ElementType output, BlockOrder order) {
    const std::size_t widest = std::max(size_of(info_.format.type), size_of(output));
    const BlockPlan wanted =
        plan_blocks(info_, widest, {run_.place.gpu.has_value(), ranks_, run_.options.slab_bytes});
    const BlockPlan agreed = agree_on_blocks(wanted, wanted.block_elements, run_.communicator);
    const Tiling tiling(info_.elements, agreed.block_elements);
    plan_.threads = run_.place.threads;
    plan_.unit = "block";
    plan_.unit_elements = tiling.max_places();
    plan_.items = tiling.items();
    for (const ElementRange& block : blocks_of(tiling, order, ranks_, rank_))
      if (block.count > 0) add_item(block.count);
    return of_all_ranks();
  }

  Plan axes(const AxisPlan& axes) {
    const AxisTiling& tiling = axes.tiling;
    const ElementRange share = share_of(tiling.items(), ranks_, rank_);
    plan_.threads = axes.threads_for(share.count);
    plan_.slots = std::max(1, plan_.threads);
    plan_.unit = "box";
    plan_.unit_elements = tiling.max_elements();
    plan_.items = tiling.items();
    for (std::uint64_t item = share.first; item < share.end(); ++item) {
      const ElementRange boxes = tiling.boxes(item);
      std::uint64_t elements = 0;
      for (std::uint64_t box = boxes.first; box < boxes.end(); ++box)
        elements += tiling.box(tiling.tile(item), box).elements();
      add_item(elements);
    }
    return of_all_ranks();
  }

  Plan reduce(const std::vector<Axis>& axes_asked) {
    if (axes_asked.empty()) return slabs();
    resolve(axes_asked);
    const AxisShape array(info_.shape, plan_.axes);
    if (info_.elements == 0) return of_all_ranks();
    const ReduceNeeds needs = needs_of(ReduceOptions().statistics, value_type_);
    return axes(plan_axis_reduce(info_, array, needs, run_));
  }

  Plan scan(const std::vector<Axis>& axes_asked) {
    const ElementType output = default_scan_output(value_type_, ScanOperation::sum);
    resolve(axes_asked);
    std::optional<std::int64_t> axis;
    if (!plan_.axes.empty()) axis = plan_.axes.front();
    const std::optional<AxisShape> lines = lines_of(info_.shape, axis);
    if (!lines || info_.elements == 0) return blocks(output, BlockOrder::in_turns);
    return axes(plan_axis_scan(info_, *lines, output, run_));
  }

 private:
  void resolve(const std::vector<Axis>& axes_asked) {
    const std::vector<std::int64_t> axes = axis_numbers(axes_asked, info_, run_.communicator);
    run_on_all(run_.communicator, [&] { plan_.axes = resolve_axes(axes, info_.shape); });
  }

  std::uint64_t elements_of(const SlabTiling& tiling, std::uint64_t slab) const {
    if (!tiling.in_chunks) return tiling.slabs.range(slab).count;
    return box_target(io::grid_of(info_), chunks_of(tiling.slabs, {slab, 1})).elements;
  }

  void add_item(std::uint64_t elements) {
    ++mine_.items;
    mine_.elements += elements;
  }

  /// Returns the plan with the shares of all ranks, and what the rank with the most needs.
  /// Collective.
  Plan of_all_ranks() {
    Plan plan = plan_;
    const std::vector<double> most = mpi::maximum(
        {static_cast<double>(plan_.threads), static_cast<double>(plan_.slots.value_or(0))},
        run_.communicator);
    plan.threads = static_cast<int>(most[0]);
    if (plan.slots) {
      plan.slots = static_cast<int>(most[1]);
      plan.host_memory_bytes =
          static_cast<std::uint64_t>(*plan.slots) * plan.unit_elements * size_of(info_.format.type);
    }
    std::vector<std::uint64_t> shares(2 * static_cast<std::size_t>(ranks_));
    shares[2 * static_cast<std::size_t>(rank_)] = mine_.items;
    shares[2 * static_cast<std::size_t>(rank_) + 1] = mine_.elements;
    shares = mpi::sum(std::move(shares), run_.communicator);
    for (std::size_t i = 0; i + 1 < shares.size(); i += 2)
      plan.shares.push_back({shares[i], shares[i + 1]});
    plan.run = describe_run(run_);
    return plan;
  }

  const io::DatasetInfo& info_;
  ElementType value_type_;
  Run& run_;
  int ranks_;
  int rank_;
  Plan plan_;  ///< this rank's plan
  PlanShare mine_;
};

}  // namespace

Plan plan_command(MPI_Comm parent, const io::DatasetInfo& info, ElementType value_type,
                  const PlanRequest& request, const RunOptions& options) {
  Run run(parent, options);
  const io::DatasetInfo shared = share_from_root(info, run.communicator);
  const auto type = static_cast<ElementType>(
      mpi::broadcast(static_cast<std::uint64_t>(value_type), run.communicator));
  run.choose_backend_for(shared);
  Planner planner(shared, type, run);
  switch (request.command) {
    case PlannedCommand::scan:
      return planner.scan(request.axes);
    case PlannedCommand::compact:
      return planner.blocks(type, BlockOrder::consecutive);
    case PlannedCommand::reduce:
    case PlannedCommand::histogram:
      break;
  }
  return planner.reduce(request.axes);
}

}  // namespace warpfold::pipeline
