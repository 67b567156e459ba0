#include "pipeline/scan/axis_scan_pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <utility>

#include "core/engine/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "pipeline/regions/axis_chunks.hpp"
#include "pipeline/regions/axis_plan.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/work_queue.hpp"

namespace warpfold::pipeline {
namespace {

/// In place of the last element's bits, where another rank has it.
constexpr std::uint64_t elsewhere = std::numeric_limits<std::uint64_t>::max();

/// What a scan along an axis needs beside each other.
struct LineJob {
  const AxisTiling& tiling;  ///< the same on every rank
  const ScanSpec& spec;
  io::ContiguousWriter& writer;
  std::unique_ptr<RegionSource> source;
  std::unique_ptr<AxisScanEngine> engine;
};

/// What the threads that share a rank's tiles find out.
struct LineResults {
  /// The least flat index of a prefix that the output type can't hold, or no_index.
  std::atomic<std::uint64_t> overflow = no_index;
  std::uint64_t last_bits = elsewhere;  ///< value_bits() of the output's last element

  void note_overflow(std::uint64_t index) {
    std::uint64_t minimum = overflow;
    while (index < minimum && !overflow.compare_exchange_weak(minimum, index)) continue;
  }
};

/// The boxes that a thread scans, in order: of tiles of its own, or of those that threads share.
class LineBoxes {
 public:
  LineBoxes(const AxisTiling& tiling, bool shared, WorkQueue::Worker& worker)
      : tiling_(tiling), boxes_(shared ? 1 : tiling.max_boxes()), worker_(worker) {}

  /// Returns what the queue's items stand for, of so many tiles.
  static ElementRange items_of(ElementRange tiles, const AxisTiling& tiling, bool shared) {
    const std::uint64_t boxes = shared ? tiling.max_boxes() : 1;
    return {tiles.first * boxes, tiles.count * boxes};
  }

  struct Box {
    Hyperslab region;
    std::uint64_t tile;
    std::uint64_t number;  ///< in the tile
    bool last;
  };

  std::optional<Box> next() {
    if (left_ == 0) {
      const std::optional<std::uint64_t> item = worker_.next();
      if (!item) return std::nullopt;
      next_ = *item * boxes_;
      left_ = boxes_;
    }
    const std::uint64_t rows = tiling_.max_boxes();
    const std::uint64_t tile = next_ / rows;
    const std::uint64_t number = next_ % rows;
    ++next_;
    --left_;
    return Box{tiling_.box(tile, number), tile, number, number + 1 == rows};
  }

 private:
  const AxisTiling& tiling_;
  std::uint64_t boxes_;  ///< of an item
  WorkQueue::Worker& worker_;
  std::uint64_t next_ = 0;  ///< of all boxes, tile by tile
  std::uint64_t left_ = 0;  ///< of the item
};

/// The work of one of those threads, in the slot of its number.
class LineWork {
 public:
  LineWork(const LineJob& job, LineResults& results, StageRegistry& stages,
           StageRegistry* scan_registry, WorkQueue::Worker& worker)
      : job_(job),
        results_(results),
        worker_(worker),
        slot_(worker.number()),
        shape_(job.tiling.array().shape),
        boxes_(job.tiling, job.engine->shares_lines(), worker),
        reader_(*job.source,
                job.engine->decompresses() ? io::Compressed::left : io::Compressed::undone),
        scanning_(scan_registry, stage::scan),
        writing_(stages, stage::write) {}

  /// Scans box after box, while others are under way.
  std::vector<StageTiming> run() {
    const auto most = static_cast<std::size_t>(job_.engine->ahead());
    while (true) {
      while (under_way_.size() < most && !worker_.is_to_stop() && submit_next()) continue;
      if (worker_.is_to_stop()) return {};
      if (under_way_.empty()) break;
      scan_first();
    }
    std::vector<StageTiming> stages = reader_.timings();
    append(stages, {scanning_.timing(), writing_.timing()});
    return stages;
  }

 private:
  /// Tells whether there was one that is needed.
  bool submit_next() {
    AxisScanEngine& engine = *job_.engine;
    std::optional<LineBoxes::Box> box = boxes_.next();
    while (box && flat_index(box->region.start, shape_) > results_.overflow) {
      engine.leave_out(shape_of(*box));
      box = boxes_.next();
    }
    if (!box) return false;
    const Hyperslab& region = box->region;
    const StagedChunks slab =
        reader_.read(region, row_major_strides(region.count), engine.buffer(slot_));
    scanning_.time(0, [&] { engine.submit(slot_, slab, shape_of(*box)); });
    under_way_.push_back(region);
    return true;
  }

  void scan_first() {
    const Hyperslab region = std::move(under_way_.front());
    under_way_.pop_front();
    const std::uint64_t bytes = region.elements() * size_of(job_.spec.input.type);
    const auto prefixes = scanning_.time(bytes, [&] { return job_.engine->scan(slot_); });
    if (!prefixes) return;
    if (const auto place = job_.engine->overflow(slot_))
      results_.note_overflow(index_of(region, *place));
    writing_.time(prefixes->size(), [&] { write(region, *prefixes); });
    worker_.advance(prefixes->size());
  }

  AxisSlab shape_of(const LineBoxes::Box& box) const {
    const auto axis = static_cast<std::size_t>(job_.tiling.array().along.front());
    const std::span<const std::uint64_t> count = box.region.count;
    return {product(count.first(axis)),
            count[axis],
            product(count.subspan(axis + 1)),
            box.number > 0,
            box.tile,
            box.number,
            box.last};
  }

  /// Returns the flat index of the element at a place of the box, in row-major order.
  std::uint64_t index_of(const Hyperslab& box, std::uint64_t place) const {
    std::vector<std::uint64_t> at(box.start);
    for (std::size_t d = at.size(); d-- > 0;) {
      at[d] += place % box.count[d];
      place /= box.count[d];
    }
    return flat_index(at, shape_);
  }

  void write(const Hyperslab& box, std::span<const std::byte> prefixes) {
    const std::size_t size = size_of(job_.spec.output);
    for_each_run(box, shape_, [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
      job_.writer.write(index * size, prefixes.subspan(place * size, count * size));
    });
    if (index_of(box, box.elements() - 1) + 1 == product(shape_))
      results_.last_bits = bits_of(prefixes.last(size), job_.spec.output);
  }

  const LineJob& job_;
  LineResults& results_;
  WorkQueue::Worker& worker_;
  int slot_;
  const std::vector<std::uint64_t>& shape_;
  LineBoxes boxes_;
  std::deque<Hyperslab> under_way_;
  RegionReader reader_;
  StageTimer scanning_;
  StageTimer writing_;
};

/// Collective.
ScanOutcome carry_out(const LineJob& job, ElementRange mine, int threads, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  ProgressMonitor& monitor = run.monitor;
  StageRegistry* scan_registry = registry_of_callers(*job.engine, monitor.stages());
  LineResults results;
  const auto start = SteadyClock::now();
  const auto scan_boxes = [&](WorkQueue::Worker& worker) {
    const std::stop_callback stop_waiting(worker.stop(), [&] { job.engine->stop(); });
    return LineWork(job, results, monitor.stages(), scan_registry, worker).run();
  };
  std::vector<StageTiming> stages = WorkQueue(mine).run(
      threads, scan_boxes, product(job.tiling.array().shape) * size_of(job.spec.output), monitor,
      communicator);
  throw_overflow_on_all_ranks(results.overflow, job.spec, communicator);

  put_engine_stages(stages, stage::scan, job.engine->timings());
  return {mpi::minimum({results.last_bits}, communicator).front(),
          over_threads(stages, seconds_since(start))};
}

/// Returns how many boxes a thread has under way where a GPU decompresses.
int boxes_ahead(const RegionSource& source, const AxisTiling& tiling, std::uint64_t tiles,
                int threads) {
  return parts_under_way(source.chunks_of_box(tiling.box_extents()), threads,
                         tiles * tiling.max_boxes() / static_cast<std::uint64_t>(threads));
}

}  // namespace

ScanOutcome scan_lines(DatasetView& view, const ScanSpec& spec, const AxisShape& lines,
                       io::ContiguousWriter& writer, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const AxisPlan plan = plan_axis_scan(view.info(), lines, spec.output, run);
  const AxisTiling& tiling = plan.tiling;
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.threads);
  const ElementRange mine = share_of(tiling.items(), communicator.size(), communicator.rank());
  const int slots = std::max(1, plan.threads_for(mine.count));
  LineJob job{tiling, spec, writer, nullptr, nullptr};
  run_on_all(communicator, [&] {
    job.source = std::make_unique<RegionSource>(view.dataset, run.monitor.stages());
    job.engine = run.backend.get().make_axis_scan_engine(
        {view.info().format, view.decoding, tiling.max_elements(),
         job.source->bytes_of_box(tiling.box_extents()), Staging::chunks, slots,
         &run.monitor.stages(), compressed_chunks(*job.source, tiling, mine.count, run)},
        {spec, tiling.max_outputs(), boxes_ahead(*job.source, tiling, mine.count, slots)});
  });
  return carry_out(job, LineBoxes::items_of(mine, tiling, job.engine->shares_lines()),
                   std::min(slots, job.engine->slots()), run);
}

}  // namespace warpfold::pipeline
