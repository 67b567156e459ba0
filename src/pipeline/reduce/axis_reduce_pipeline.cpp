#include "pipeline/reduce/axis_reduce_pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/engine/backend.hpp"
#include "cpu/machine/thread_binding.hpp"
#include "pipeline/reduce/axis_tiles.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/regions/box_source.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// What is kept of an output while it is reduced, handed over, and combined.
std::uint64_t output_bytes(const ReduceNeeds& needs) {
  constexpr std::uint64_t copies = 3;
  std::uint64_t bytes = sizeof(AxisCounts) + sizeof(std::uint64_t);
  for (const bool sum : {needs.sum, needs.absolute, needs.squares})
    if (sum) bytes += sizeof(Expansion);
  if (needs.extrema) bytes += 2 * sizeof(Extremum);
  return copies * bytes;
}

/// What a reduction of rows needs beside each other.
struct RowJob {
  const AxisCut& cut;  ///< the same on every rank
  AxisGroups groups;
  ElementRange mine;  ///< this rank's groups
  int threads;
  std::size_t element_bytes;
  std::unique_ptr<BoxSource> source;
  std::unique_ptr<AxisReduceEngine> engine;
};

/// The work of the threads that share a rank's groups, and what they say of it.
class RowWork {
 public:
  RowWork(const RowJob& job, AxisTiles& tiles, AxisWriter& writer, StageRegistry& stages)
      : job_(job),
        tiles_(tiles),
        writer_(writer),
        stages_(stages),
        reduce_registry_(registry_of_callers(*job.engine, stages)),
        next_(job.mine.first) {}

  /// Reduces group after group, in the lane of the worker's number. Groups of one tile that follow
  /// one another are reduced as one.
  void run(int worker, const std::stop_token& stop) {
    Worker state{worker,
                 job_.source->make_reader(),
                 {reduce_registry_, stage::reduce},
                 {stages_, stage::combine},
                 {stages_, stage::write}};
    for (std::uint64_t group = next_++; group < job_.mine.end(); group = next_++) {
      const std::uint64_t tile = job_.groups.tile(group);
      if (writer_.failed_before(job_.cut.outputs(tile))) continue;
      open_tile(state, tile);
      if (!reduce(state, group, stop)) return;
      ++groups_done_;
    }
    close_tile(state);
    keep(state);
  }

  double share_done() const {
    return static_cast<double>(groups_done_) /
           static_cast<double>(std::max<std::uint64_t>(1, job_.mine.count));
  }

  /// Of all workers and the engine, once they are done.
  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> stages = reading_;
    append(stages, engine_stages(job_.engine->timings(), reducing_));
    append(stages, combining_);
    append(stages, writing_);
    return stages;
  }

 private:
  struct Worker {
    int lane;
    std::unique_ptr<BoxReader> reader;
    StageTimer reducing;
    StageTimer combining;
    StageTimer writing;
    std::optional<std::uint64_t> tile = std::nullopt;  ///< that the lane reduces
    std::uint64_t groups = 0;                          ///< of it that the lane has
  };

  void open_tile(Worker& worker, std::uint64_t tile) {
    if (worker.tile == tile) return;
    close_tile(worker);
    worker.tile = tile;
    worker.groups = 0;
    job_.engine->begin(worker.lane, product(job_.cut.outputs(tile).count));
  }

  void close_tile(Worker& worker) {
    if (!worker.tile) return;
    const std::uint64_t tile = *worker.tile;
    const Box outputs = job_.cut.outputs(tile);
    const AxisParts parts =
        worker.reducing.time(0, [&] { return job_.engine->finish(worker.lane); });
    const std::optional<AxisTotals> complete = worker.combining.time(
        parts.counts.size() * sizeof(AxisCounts),
        [&] { return tiles_.add(tile, outputs.elements(), worker.groups, parts); });
    if (complete) worker.writing.time(0, [&] { writer_.write(outputs, *complete); });
  }

  /// Whether it was not stopped.
  bool reduce(Worker& worker, std::uint64_t group, const std::stop_token& stop) {
    const ElementRange boxes = job_.groups.boxes(group);
    for (std::uint64_t number = boxes.first; number < boxes.end(); ++number) {
      if (stop.stop_requested()) return false;
      const Box box = job_.cut.box(*worker.tile, number);
      const StagedChunks slab =
          worker.reader->read(box, job_.cut.matrix_strides(box), job_.engine->buffer(worker.lane));
      worker.reducing.time(box.elements() * job_.element_bytes, [&] {
        job_.engine->submit(worker.lane, slab, job_.cut.row_indices(box));
      });
    }
    ++worker.groups;
    return true;
  }

  void keep(const Worker& worker) {
    const std::vector<StageTiming> reading = worker.reader->timings();
    const std::lock_guard lock(mutex_);
    append(reading_, reading);
    reducing_.push_back(worker.reducing.timing());
    combining_.push_back(worker.combining.timing());
    writing_.push_back(worker.writing.timing());
  }

  const RowJob& job_;
  AxisTiles& tiles_;
  AxisWriter& writer_;
  StageRegistry& stages_;
  StageRegistry* reduce_registry_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> groups_done_ = 0;
  std::mutex mutex_;
  std::vector<StageTiming> reading_;
  std::vector<StageTiming> reducing_;
  std::vector<StageTiming> combining_;
  std::vector<StageTiming> writing_;
};

std::uint64_t all_bytes(const RowJob& job) {
  return product(job.cut.array().shape) * job.element_bytes;
}

/// Groups as bytes of elements, all groups being alike.
std::uint64_t bytes_done(const RowWork& work, const RowJob& job) {
  const double share = static_cast<double>(job.mine.count) / static_cast<double>(job.groups.all());
  return static_cast<std::uint64_t>(static_cast<double>(all_bytes(job)) * share *
                                    work.share_done());
}

/// Collective.
std::vector<StageTiming> carry_out(const RowJob& job, AxisTiles& tiles, AxisWriter& writer,
                                   Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  StageRegistry& registry = run.monitor.stages();
  const auto start = SteadyClock::now();
  run.monitor.start_pass(all_bytes(job));
  RowWork work(job, tiles, writer, registry);
  std::optional<WorkerThreads> workers;
  run_on_all(communicator, [&] {
    workers.emplace(job.threads, [&](int worker, const auto& stop) { work.run(worker, stop); });
  });
  wait_all_ranks(*workers, communicator, run.monitor, [&] { return bytes_done(work, job); });
  writer.failure().throw_on_all_ranks(communicator);

  StageTimer combine(registry, stage::combine);
  const auto shared = combine.time(0, [&] { return tiles.combine(communicator); });
  run_on_all(communicator, [&] {
    if (shared) writer.write(job.cut.outputs(shared->first), shared->second);
  });
  writer.failure().throw_on_all_ranks(communicator);
  StageTimer sync(registry, stage::sync);
  run_on_all(communicator, [&] { sync.time(0, [&] { writer.sync(); }); });

  std::vector<StageTiming> stages = work.timings();
  append(stages, {combine.timing(), sync.timing()});
  return over_threads(stages, seconds_since(start));
}

}  // namespace

std::vector<StageTiming> reduce_rows(DatasetView& view, const AxisShape& array,
                                     const ReduceNeeds& needs, AxisWriter& writer, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const std::size_t element_bytes = size_of(view.info().format.type);
  const AxisResources means =
      agree_on_axis_resources(view.info(), element_bytes, output_bytes(needs), run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, means.threads);
  std::unique_ptr<BoxSource> source;
  run_on_all(communicator, [&] {
    view.dataset.choose_cache(run.options.file_cache);
    source = make_box_source(view.dataset, run.monitor.stages());
  });
  const AxisCut cut = cut_for_axis_reduce(array, source->granule(), means);
  const AxisGroups groups(cut, means);
  const ElementRange mine = groups.share(communicator.size(), communicator.rank());
  const auto lanes = static_cast<int>(
      std::clamp<std::uint64_t>(mine.count, 1, static_cast<std::uint64_t>(means.threads)));
  RowJob job{cut, groups, mine, lanes, element_bytes, std::move(source), nullptr};
  run_on_all(communicator, [&] {
    job.engine = run.backend.get().make_axis_reduce_engine(
        {view.info().format, view.decoding, needs, cut.max_outputs(), cut.max_elements(),
         job.source->staging_bytes(cut.box_extents()), lanes, &run.monitor.stages()});
  });
  job.threads = std::min(lanes, job.engine->lanes());
  AxisTiles tiles(job.groups, view.value_type(), needs);
  return carry_out(job, tiles, writer, run);
}

void write_outputs_of_nothing(ElementType values, const ReduceNeeds& needs, AxisWriter& writer,
                              Run& run) {
  constexpr std::uint64_t max_outputs = std::uint64_t{1} << 16;
  const std::uint64_t outputs = product(writer.output_shape());
  const auto ranks = static_cast<std::uint64_t>(run.communicator.size());
  const auto rank = static_cast<std::uint64_t>(run.communicator.rank());
  run_on_all(run.communicator, [&] {
    for (std::uint64_t block = rank; block * max_outputs < outputs; block += ranks) {
      run.monitor.poll();
      const ElementRange range = block_range(outputs, max_outputs, block);
      writer.write(range, AxisTotals(values, needs, range.count));
    }
    writer.sync();
  });
  writer.failure().throw_on_all_ranks(run.communicator);
}

}  // namespace warpfold::pipeline
