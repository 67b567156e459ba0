#include "pipeline/plan/plan.hpp"

#include "core/results/summarize.hpp"
#include "core/scan/scan_spec.hpp"
#include "mpi/combine.hpp"
#include "pipeline/datasets/dataset_info_exchange.hpp"
#include "pipeline/datasets/named_dimensions.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/bottleneck.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/run.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/reduce.hpp"

namespace warpfold::pipeline {
namespace {

WorkNeeds needs_of(const PlanRequest& request, const std::vector<int>& axes,
                   const io::DatasetInfo& info, ElementType type, const Run& run) {
  switch (request.command) {
    case PlannedCommand::scan: {
      std::optional<std::int64_t> axis;
      if (!axes.empty() && info.elements > 0) axis = axes.front();
      return needs_of_scan(lines_of(info.shape, axis),
                           default_scan_output(type, ScanOperation::sum),
                           run.place.gpu.has_value());
    }
    case PlannedCommand::compact:
      return needs_of_compaction(type);
    case PlannedCommand::reduce:
    case PlannedCommand::histogram:
      break;
  }
  if (axes.empty()) return {};
  return needs_of_rows({info.shape, axes}, needs_of(ReduceOptions().statistics, type));
}

std::string unit_of(Items items) {
  if (items == Items::slabs) return "slab";
  return are_boxes(items) ? "box" : "block";
}

/// Reports a plan but for the run. Collective.
PlanReport report_of(const WorkPlan& plan, const io::DatasetInfo& info,
                     const mpi::Communicator& communicator) {
  PlanReport report;
  report.unit = unit_of(plan.items);
  report.unit_elements = plan.tiling.max_elements();
  report.items = plan.tiling.items();
  const std::vector<double> most = mpi::maximum(
      {static_cast<double>(plan.threads), static_cast<double>(plan.slots())}, communicator);
  report.threads = static_cast<int>(most[0]);
  if (report.unit != "block") {
    report.slots = static_cast<int>(most[1]);
    report.host_memory_bytes = static_cast<std::uint64_t>(*report.slots) * report.unit_elements *
                               size_of(info.format.type);
  }
  std::vector<std::uint64_t> shares(2 * static_cast<std::size_t>(communicator.size()));
  const auto mine = shares.begin() + 2 * communicator.rank();
  for (std::uint64_t i = 0; i < plan.mine.count && plan.item(i) < report.items; ++i) {
    ++mine[0];
    mine[1] += plan.tiling.elements(plan.item(i));
  }
  shares = mpi::sum(std::move(shares), communicator);
  for (std::size_t i = 0; i + 1 < shares.size(); i += 2)
    report.shares.push_back({shares[i], shares[i + 1]});
  return report;
}

}  // namespace

PlanReport plan_command(MPI_Comm parent, const io::DatasetInfo& described, ElementType value_type,
                        const PlanRequest& request, const RunOptions& options) {
  Run run(parent, options);
  const mpi::Communicator& communicator = run.communicator;
  const io::DatasetInfo info = share_from_root(described, communicator);
  const auto type = static_cast<ElementType>(
      mpi::broadcast(static_cast<std::uint64_t>(value_type), communicator));
  run.choose_backend_for(info);
  const std::vector<std::int64_t> numbers = axis_numbers(request.axes, info, communicator);
  std::vector<int> axes;
  run_on_all(communicator, [&] { axes = resolve_axes(numbers, info.shape); });
  const WorkNeeds needs = needs_of(request, axes, info, type, run);
  PlanReport report;
  if (needs.array && info.elements == 0) {
    report.shares.resize(static_cast<std::size_t>(communicator.size()));
  } else {
    report = report_of(plan_work(info, needs, run), info, communicator);
  }
  if (needs.items == Items::slabs) {
    if (run.shares(info)) run.cores();
    report.bottleneck =
        expected_bottleneck(info, report.threads, communicator.size(), run.place.gpu.has_value());
  }
  report.axes = axes;
  report.run = describe_run(run);
  return report;
}

}  // namespace warpfold::pipeline
