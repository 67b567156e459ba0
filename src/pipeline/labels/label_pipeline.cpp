#include "pipeline/labels/label_pipeline.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/labels/label_job.hpp"
#include "pipeline/regions/axis_plan.hpp"
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

/// Returns the engine that this rank's GPU offers for `items` boxes, or null where cores are to
/// reduce them.
std::unique_ptr<LabelEngine> make_engine(LabelJob& job, std::uint64_t items, int slots, Run& run) {
  const std::vector<std::uint64_t>& extents = job.boxes.extents();
  // A GPU puts chunks together along dimensions.
  if (extents.empty()) return nullptr;
  CompressedChunks compressed;
  const std::uint64_t chunks = job.elements.chunks_of_box(extents);
  if (run.place.gpu)
    compressed = job.elements.compressed(items * chunks, chunks,
                                         static_cast<std::uint64_t>(run.place.threads));
  return run.backend.get().make_label_engine(
      {job.view.info().format, job.view.decoding, job.boxes.max_places(),
       job.elements.bytes_of_box(extents), Staging::chunks, slots, &run.monitor.stages(),
       compressed},
      job.needs);
}

/// Adds what the engine has to the rank's totals.
void take_totals(LabelJob& job) {
  const AxisParts parts = job.engine->finish();
  job.totals.merge(job.engine_numbers.labels().first(parts.counts.size()), parts);
}

/// Collective.
std::vector<StageTiming> reduce_share(LabelJob& job, ElementRange mine, int threads, Run& run) {
  const io::DatasetInfo& info = job.view.info();
  const auto make = [&](PassThread& thread) {
    return job.engine ? make_engine_label_consumer(job, thread)
                      : make_core_label_consumer(job, thread);
  };
  const auto merge = [&](std::vector<StageTiming>& stages) {
    StageTimer combining(run.monitor.stages(), stage::combine);
    run_on_all(run.communicator, [&] {
      if (job.engine) combining.time(0, [&] { take_totals(job); });
      if (job.cores_used) run.cores();
    });
    if (!job.engine) return;
    put_engine_stages(stages, stage::reduce, job.engine->timings());
    append(stages, {combining.timing()});
  };
  return run_pass({mine, threads, info.elements * size_of(info.format.type)}, run.monitor,
                  run.communicator, make, merge);
}

}  // namespace

LabelTotals reduce_labels(DatasetView& view, DatasetLabels& labels, const ReduceNeeds& needs,
                          Run& run, std::vector<StageTiming>& stages) {
  const mpi::Communicator& communicator = run.communicator;
  if (view.info().elements == 0) return {view.value_type(), needs};
  const BoxPlan plan = plan_boxes(view.info(), run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.threads);
  const ElementRange mine = share_of(plan.boxes.items(), communicator.size(), communicator.rank());
  auto threads = static_cast<int>(
      std::clamp<std::uint64_t>(mine.count, 1, static_cast<std::uint64_t>(plan.threads)));
  std::optional<LabelTotals> result;
  while_unchanged(view, communicator, [&] {
    std::optional<LabelJob> job;
    StageRegistry& registry = run.monitor.stages();
    run_on_all(communicator, [&] {
      job.emplace(plan.boxes, view, labels, needs, registry);
      job->engine = make_engine(*job, mine.count, threads, run);
      if (job->engine)
        threads = std::min(threads, job->engine->slots());
      else
        run.cores();
    });
    append(stages, reduce_share(*job, mine, threads, run));
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
