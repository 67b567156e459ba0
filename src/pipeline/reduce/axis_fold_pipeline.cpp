#include "pipeline/reduce/axis_fold_pipeline.hpp"

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
#include "pipeline/run/run_watch.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// What is kept of an output while it is folded, handed over, and combined.
std::uint64_t output_bytes(const FoldNeeds& needs) {
  constexpr std::uint64_t copies = 3;
  std::uint64_t bytes = sizeof(AxisCounts) + sizeof(std::uint64_t);
  for (const bool sum : {needs.sum, needs.absolute, needs.squares})
    if (sum) bytes += sizeof(Expansion);
  if (needs.extrema) bytes += 2 * sizeof(Extremum);
  return copies * bytes;
}

/// What a fold of rows needs beside each other.
struct RowJob {
  const AxisCut& cut;  ///< the same on every rank
  AxisGroups groups;
  ElementRange mine;  ///< this rank's groups
  int threads;
  std::size_t element_bytes;
  std::unique_ptr<BoxSource> source;
  std::unique_ptr<AxisFoldEngine> engine;
};

/// The work of the threads that share a rank's groups, and what they say of it.
class RowWork {
 public:
  RowWork(const RowJob& job, AxisTiles& tiles, AxisWriter& writer, StageBoard& stages)
      : job_(job),
        tiles_(tiles),
        writer_(writer),
        stages_(stages),
        fold_board_(board_of_callers(*job.engine, stages)),
        next_(job.mine.first) {}

  /// Folds group after group, in the lane of the worker's number. Groups of one tile that follow
  /// one another are folded as one.
  void run(int worker, const std::stop_token& stop) {
    Worker state{worker,
                 job_.source->make_reader(),
                 {fold_board_, stage::fold},
                 {stages_, stage::combine},
                 {stages_, stage::write}};
    for (std::uint64_t group = next_++; group < job_.mine.end(); group = next_++) {
      const std::uint64_t tile = job_.groups.tile(group);
      if (writer_.failed_before(job_.cut.outputs(tile))) continue;
      open_tile(state, tile);
      if (!fold(state, group, stop)) return;
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
    append(stages, engine_stages(job_.engine->timings(), folding_));
    append(stages, combining_);
    append(stages, writing_);
    return stages;
  }

 private:
  struct Worker {
    int lane;
    std::unique_ptr<BoxReader> reader;
    StageClock folding;
    StageClock combining;
    StageClock writing;
    std::optional<std::uint64_t> tile = std::nullopt;  ///< that the lane folds
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
        worker.folding.time(0, [&] { return job_.engine->finish(worker.lane); });
    const std::optional<AxisTotals> complete = worker.combining.time(
        parts.counts.size() * sizeof(AxisCounts),
        [&] { return tiles_.add(tile, outputs.elements(), worker.groups, parts); });
    if (complete) worker.writing.time(0, [&] { writer_.write(outputs, *complete); });
  }

  /// Whether it was not stopped.
  bool fold(Worker& worker, std::uint64_t group, const std::stop_token& stop) {
    const ElementRange boxes = job_.groups.boxes(group);
    for (std::uint64_t number = boxes.first; number < boxes.end(); ++number) {
      if (stop.stop_requested()) return false;
      const Box box = job_.cut.box(*worker.tile, number);
      const StagedChunks slab =
          worker.reader->read(box, job_.cut.matrix_strides(box), job_.engine->buffer(worker.lane));
      worker.folding.time(box.elements() * job_.element_bytes, [&] {
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
    folding_.push_back(worker.folding.timing());
    combining_.push_back(worker.combining.timing());
    writing_.push_back(worker.writing.timing());
  }

  const RowJob& job_;
  AxisTiles& tiles_;
  AxisWriter& writer_;
  StageBoard& stages_;
  StageBoard* fold_board_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> groups_done_ = 0;
  std::mutex mutex_;
  std::vector<StageTiming> reading_;
  std::vector<StageTiming> folding_;
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
  StageBoard& board = run.watch.stages();
  const auto start = SteadyClock::now();
  run.watch.start_pass(all_bytes(job));
  RowWork work(job, tiles, writer, board);
  std::optional<WorkerThreads> workers;
  run_on_all(communicator, [&] {
    workers.emplace(job.threads, [&](int worker, const auto& stop) { work.run(worker, stop); });
  });
  see_through(*workers, communicator, run.watch, [&] { return bytes_done(work, job); });
  writer.failure().settle(communicator);

  StageClock combine(board, stage::combine);
  const auto shared = combine.time(0, [&] { return tiles.combine(communicator); });
  run_on_all(communicator, [&] {
    if (shared) writer.write(job.cut.outputs(shared->first), shared->second);
  });
  writer.failure().settle(communicator);
  StageClock sync(board, stage::sync);
  run_on_all(communicator, [&] { sync.time(0, [&] { writer.sync(); }); });

  std::vector<StageTiming> stages = work.timings();
  append(stages, {combine.timing(), sync.timing()});
  return over_threads(stages, seconds_since(start));
}

}  // namespace

std::vector<StageTiming> fold_rows(DatasetView& view, const AxisShape& array,
                                   const FoldNeeds& needs, AxisWriter& writer, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const std::size_t element_bytes = size_of(view.info().format.type);
  const AxisMeans means = agree_on_axis_means(view.info(), element_bytes, output_bytes(needs), run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, means.threads);
  std::unique_ptr<BoxSource> source;
  run_on_all(communicator, [&] {
    view.dataset.choose_cache(run.options.file_cache);
    source = make_box_source(view.dataset, run.watch.stages());
  });
  const AxisCut cut = cut_for_axis_fold(array, source->granule(), means);
  const AxisGroups groups(cut, means);
  const ElementRange mine = groups.share(communicator.size(), communicator.rank());
  const auto lanes = static_cast<int>(
      std::clamp<std::uint64_t>(mine.count, 1, static_cast<std::uint64_t>(means.threads)));
  RowJob job{cut, groups, mine, lanes, element_bytes, std::move(source), nullptr};
  run_on_all(communicator, [&] {
    job.engine = run.backend.get().make_axis_fold_engine(
        {view.info().format, view.decoding, needs, cut.most_outputs(), cut.most_elements(),
         job.source->staging_bytes(cut.box_extents()), lanes, &run.watch.stages()});
  });
  job.threads = std::min(lanes, job.engine->lanes());
  AxisTiles tiles(job.groups, view.value_type(), needs);
  return carry_out(job, tiles, writer, run);
}

void write_outputs_of_nothing(ElementType values, const FoldNeeds& needs, AxisWriter& writer,
                              Run& run) {
  constexpr std::uint64_t most_outputs = std::uint64_t{1} << 16;
  const std::uint64_t outputs = product(writer.output_shape());
  const auto ranks = static_cast<std::uint64_t>(run.communicator.size());
  const auto rank = static_cast<std::uint64_t>(run.communicator.rank());
  run_on_all(run.communicator, [&] {
    for (std::uint64_t block = rank; block * most_outputs < outputs; block += ranks) {
      run.watch.attend();
      const ElementRange range = block_range(outputs, most_outputs, block);
      writer.write(range, AxisTotals(values, needs, range.count));
    }
    writer.sync();
  });
  writer.failure().settle(run.communicator);
}

}  // namespace warpfold::pipeline
