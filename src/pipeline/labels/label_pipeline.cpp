#include "pipeline/labels/label_pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/engine/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/labels/label_job.hpp"
#include "pipeline/regions/axis_shape.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// Combines ranks' totals on the root, in a tree. Collective; throws the same Error on every rank.
void combine(LabelTotals& totals, const mpi::Communicator& communicator) {
  const int rank = communicator.rank();
  std::exception_ptr failure;
  const auto attempt = [&](const auto& body) {
    if (!failure) failure = capture_exception(body);
  };
  for (int step = 1; step < communicator.size(); step *= 2) {
    if (rank % (2 * step) != 0) {
      std::vector<std::uint64_t> words;
      attempt([&] { words = totals.packed(); });
      mpi::send(0, std::as_bytes(std::span(words)), communicator, rank - step);
      break;
    }
    if (rank + step >= communicator.size()) continue;
    std::vector<std::byte> bytes;
    mpi::receive(bytes, communicator, rank + step);
    attempt([&] {
      const auto* words = reinterpret_cast<const std::uint64_t*>(bytes.data());
      if (!bytes.empty()) totals.merge({words, bytes.size() / sizeof(std::uint64_t)});
    });
  }
  mpi::throw_on_all_ranks(failure, communicator);
}

/// Returns needs of boxes of which those that follow one another have the same labels, where cores
/// reduce them; those of a GPU are long. Collective.
WorkNeeds needs_of(const io::DatasetInfo& info, const DatasetLabels& labels, const Run& run) {
  const std::uint64_t by_cores = run.place.gpu ? 0 : 1;
  if (mpi::minimum({by_cores}, run.communicator).front() == 0) return {.items = Items::boxes};
  const auto is_apart = [&](std::size_t d) {
    return std::ranges::count(labels.dimensions, d) > 0 ||
           (labels.outputs && std::ranges::count(labels.outputs->kept, d) > 0);
  };
  std::vector<int> along;
  for (std::size_t d = 0; d < info.shape.size(); ++d)
    if (!is_apart(d)) along.push_back(static_cast<int>(d));
  return {.items = Items::parts_of_tiles,
          .array = AxisShape(info.shape, along),
          .max_outputs = info.elements};
}

/// Returns the engine that this rank's GPU offers for its boxes, or null where cores are to reduce
/// them.
std::unique_ptr<LabelEngine> make_engine(LabelJob& job, const WorkPlan& plan, Run& run) {
  // A GPU puts chunks together along dimensions.
  if (job.boxes.box_extents().empty()) return nullptr;
  return run.make_engine([&](Backend& backend) {
    return backend.make_label_engine(
        staging_plan(plan, job.elements, job.view.decoding, run), job.needs,
        product(job.labels.outputs ? job.labels.outputs->shape : job.labels.shape));
  });
}

/// Adds what the engine has to the rank's totals.
void take_totals(LabelJob& job) {
  const AxisParts parts = job.engine->finish();
  job.totals.merge(job.engine_numbers.labels().first(parts.counts.size()), parts);
}

/// Collective.
std::vector<StageTiming> reduce_share(LabelJob& job, const WorkPlan& plan, Run& run) {
  const io::DatasetInfo& info = job.view.info();
  const auto make = [&](PassThread& thread) -> std::unique_ptr<Consumer> {
    if (!job.engine) return make_core_label_consumer(job, thread);
    if (thread.number >= job.engine->threads()) return nullptr;
    return make_engine_label_consumer(job, thread);
  };
  const auto merge = [&](std::vector<StageTiming>& stages) {
    StageTimer combining(run.monitor.stages(), stage::combine);
    run_on_all(run.communicator, [&] {
      if (job.engine) combining.time(0, [&] { take_totals(job); });
      if (!job.engine || job.cores_used) run.cores();
    });
    if (!job.engine) return;
    put_engine_stages(stages, stage::reduce, job.engine->timings());
    append(stages, {combining.timing()});
  };
  const PassItems items{.items = plan.mine,
                        .threads = plan.slots(),
                        .bytes = info.elements * size_of(info.format.type),
                        .host = run.share_items(plan.tiling.items(), plan.slots())};
  return run_pass(items, run.monitor, run.communicator, make, merge);
}

}  // namespace

LabelTotals reduce_labels(DatasetView& view, DatasetLabels& labels, const ReduceNeeds& needs,
                          Run& run, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  if (view.info().elements == 0) return {view.value_type(), needs};
  const WorkPlan plan = plan_work(view.info(), needs_of(view.info(), labels, run), run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.sizes.threads);
  std::optional<LabelTotals> result;
  while_unchanged(view, communicator, [&] {
    std::optional<LabelJob> job;
    StageRegistry& registry = run.monitor.stages();
    run_on_all(communicator, [&] {
      job.emplace(plan.tiling, view, labels, needs, registry);
      job->engine = {std::launch::deferred, [&] { return make_engine(*job, plan, run); }};
    });
    append(stages, reduce_share(*job, plan, run));
    StageTimer combining(registry, stage::combine);
    combining.time(0, [&] {
      combine(job->totals, communicator);
      run_on_root(communicator, [&] { job->totals = job->totals.sorted(); });
    });
    append(stages, {combining.timing()});
    result = std::move(job->totals);
  });
  return std::move(*result);
}

}  // namespace warpfold::pipeline
