#include "pipeline/scan/axis_scan_pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "core/engine/backend.hpp"
#include "cpu/machine/thread_binding.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/regions/box_source.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"
#include "pipeline/scan/scan_results.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// In place of the last element's bits, where another rank has it.
constexpr std::uint64_t elsewhere = std::numeric_limits<std::uint64_t>::max();

ElementRange share_of_tiles(const AxisCut& cut, const mpi::Communicator& communicator) {
  return partition(cut.tiles(), 1, static_cast<std::uint64_t>(communicator.size()),
                   static_cast<std::uint64_t>(communicator.rank()));
}

/// What an engine's thread keeps for a line: an exact sum, and what goes with it.
constexpr std::uint64_t line_bytes = 96;

/// What a scan along an axis needs beside each other.
struct LineJob {
  const AxisCut& cut;  ///< the same on every rank
  const ScanSpec& spec;
  io::ContiguousWriter& writer;
  ElementRange tiles;  ///< this rank's
  int threads;
  std::unique_ptr<BoxSource> source;
  std::unique_ptr<AxisScanEngine> engine;
};

/// The work of the threads that share a rank's tiles, and what they say of it.
class LineWork {
 public:
  LineWork(const LineJob& job, StageRegistry& stages)
      : job_(job),
        stages_(stages),
        scan_registry_(registry_of_callers(*job.engine, stages)),
        stride_(row_major_strides(job.cut.array().shape)),
        next_(job.tiles.first),
        elements_(product(job.cut.array().shape)) {}

  /// Scans tile after tile in the lane of the worker's number.
  void run(int worker, const std::stop_token& stop) {
    Worker state{worker, job_.source->make_reader(), StageTimer(scan_registry_, stage::scan),
                 StageTimer(stages_, stage::write)};
    for (std::uint64_t tile = next_++; tile < job_.tiles.end(); tile = next_++) {
      job_.engine->begin(worker, product(job_.cut.outputs(tile).count));
      for (std::uint64_t number = 0; number < job_.cut.boxes_of_tile(); ++number) {
        if (stop.stop_requested()) return;
        const Box box = job_.cut.box(tile, number);
        if (flat_index(box, 0) > overflow_) break;
        scan_box(state, box);
      }
    }
    keep(state);
  }

  /// The least flat index of a prefix here that the output type can't hold, or no_index.
  std::uint64_t overflow() const { return overflow_; }

  /// value_bits() of the output's last element, or `elsewhere`.
  std::uint64_t last_bits() const { return last_bits_; }

  std::uint64_t bytes_written() const { return bytes_written_; }
  std::uint64_t bytes_of_all_ranks() const { return elements_ * size_of(job_.spec.output); }

  /// Of all workers and the engine, once they are done.
  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> stages = reading_;
    append(stages, engine_stages(job_.engine->timings(), scanning_));
    append(stages, writing_);
    return stages;
  }

 private:
  struct Worker {
    int lane;
    std::unique_ptr<BoxReader> reader;
    StageTimer scanning;
    StageTimer writing;
  };

  void scan_box(Worker& worker, const Box& box) {
    AxisScanEngine& engine = *job_.engine;
    const std::uint64_t bytes = box.elements() * size_of(job_.spec.input.type);
    const StagedChunks slab =
        worker.reader->read(box, row_major_strides(box.count), engine.buffer(worker.lane));
    const std::span<const std::byte> prefixes =
        worker.scanning.time(bytes, [&] { return engine.scan(worker.lane, slab, shape_of(box)); });
    if (const auto place = engine.overflow(worker.lane)) note_overflow(flat_index(box, *place));
    worker.writing.time(prefixes.size(), [&] { write(box, prefixes); });
    bytes_written_ += prefixes.size();
  }

  AxisSlab shape_of(const Box& box) const {
    const auto axis = static_cast<std::size_t>(job_.cut.array().along.front());
    const std::span<const std::uint64_t> count = box.count;
    return {product(count.first(axis)), count[axis], product(count.subspan(axis + 1))};
  }

  /// Of the element at a place of the box, in row-major order.
  std::uint64_t flat_index(const Box& box, std::uint64_t place) const {
    std::uint64_t index = 0;
    for (std::size_t d = box.count.size(); d-- > 0;) {
      index += (box.start[d] + place % box.count[d]) * stride_[d];
      place /= box.count[d];
    }
    return index;
  }

  void note_overflow(std::uint64_t index) {
    std::uint64_t minimum = overflow_;
    while (index < minimum && !overflow_.compare_exchange_weak(minimum, index)) continue;
  }

  void write(const Box& box, std::span<const std::byte> prefixes) {
    const std::size_t size = size_of(job_.spec.output);
    for_each_run(box, job_.cut.array().shape,
                 [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
                   job_.writer.write(index * size, prefixes.subspan(place * size, count * size));
                 });
    if (flat_index(box, box.elements() - 1) + 1 == elements_)
      last_bits_ = bits_of(prefixes.last(size), job_.spec.output);
  }

  void keep(const Worker& worker) {
    const std::vector<StageTiming> reading = worker.reader->timings();
    const std::lock_guard lock(mutex_);
    append(reading_, reading);
    scanning_.push_back(worker.scanning.timing());
    writing_.push_back(worker.writing.timing());
  }

  const LineJob& job_;
  StageRegistry& stages_;
  StageRegistry* scan_registry_;
  std::vector<std::uint64_t> stride_;
  std::atomic<std::uint64_t> next_;
  std::uint64_t elements_;
  std::atomic<std::uint64_t> bytes_written_ = 0;
  std::atomic<std::uint64_t> overflow_ = no_index;
  std::uint64_t last_bits_ = elsewhere;
  std::mutex mutex_;
  std::vector<StageTiming> reading_;
  std::vector<StageTiming> scanning_;
  std::vector<StageTiming> writing_;
};

/// Collective.
ScanOutcome carry_out(const LineJob& job, ProgressMonitor& monitor,
                      const mpi::Communicator& communicator) {
  const auto start = SteadyClock::now();
  LineWork work(job, monitor.stages());
  monitor.start_pass(work.bytes_of_all_ranks());
  std::optional<WorkerThreads> workers;
  run_on_all(communicator, [&] {
    workers.emplace(job.threads, [&](int worker, const auto& stop) { work.run(worker, stop); });
  });
  wait_all_ranks(*workers, communicator, monitor, [&] { return work.bytes_written(); });
  throw_overflow_on_all_ranks(work.overflow(), job.spec, communicator);
  StageTimer sync(monitor.stages(), stage::sync);
  run_on_all(communicator, [&] { sync.time(0, [&] { job.writer.sync(); }); });

  ScanOutcome outcome;
  outcome.last_bits = mpi::minimum({work.last_bits()}, communicator).front();
  std::vector<StageTiming> stages = work.timings();
  stages.push_back(sync.timing());
  outcome.stages = over_threads(stages, seconds_since(start));
  return outcome;
}

}  // namespace

ScanOutcome scan_lines(DatasetView& view, const ScanSpec& spec, const AxisShape& lines,
                       io::ContiguousWriter& writer, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const std::size_t widest = std::max(size_of(spec.input.type), size_of(spec.output));
  const AxisResources means = agree_on_axis_resources(view.info(), widest, line_bytes, run);
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, means.threads);
  std::unique_ptr<BoxSource> source;
  run_on_all(communicator, [&] {
    view.dataset.choose_cache(run.options.file_cache);
    source = make_box_source(view.dataset, run.monitor.stages());
  });
  const AxisCut cut = cut_for_axis_scan(lines, source->granule(), means);
  LineJob job{
      cut,    spec, writer, share_of_tiles(cut, communicator), means.threads, std::move(source),
      nullptr};
  run_on_all(communicator, [&] {
    job.engine = run.backend.get().make_axis_scan_engine(
        {spec, view.decoding, cut.max_outputs(), cut.max_elements(),
         job.source->staging_bytes(cut.box_extents()), means.threads, &run.monitor.stages()});
  });
  job.threads = std::min(job.threads, job.engine->lanes());
  return carry_out(job, run.monitor, communicator);
}

}  // namespace warpfold::pipeline
