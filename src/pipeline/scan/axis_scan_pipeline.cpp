#include "pipeline/scan/axis_scan_pipeline.hpp"

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <stop_token>
#include <utility>

#include "core/engine/backend.hpp"
#include "cpu/machine/machine.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// In place of the last element's bits, where another rank has it.
constexpr std::uint64_t elsewhere = std::numeric_limits<std::uint64_t>::max();

/// State and results shared by a rank's threads.
struct LineJob {
  const WorkTiling& tiling;  ///< the same on every rank
  const ScanSpec& spec;
  io::ContiguousWriter& writer;
  std::unique_ptr<RegionSource> source = {};
  std::unique_ptr<AxisScanEngine> engine = {};
  StageRegistry* registry = nullptr;  ///< registry of the scan's stages

  /// The least flat index of a prefix that the output type can't hold, or no_index.
  std::atomic<std::uint64_t> overflow = no_index;
  std::uint64_t last_bits = elsewhere;  ///< value_bits() of the output's last element

  void note_overflow(std::uint64_t index) {
    std::uint64_t minimum = overflow;
    while (index < minimum && !overflow.compare_exchange_weak(minimum, index)) continue;
  }
};

/// Takes boxes, of which several are under way.
class LineConsumer final : public Consumer {
 public:
  LineConsumer(LineJob& job, PassThread& thread)
      : job_(job),
        thread_(thread),
        shape_(job.tiling.array().shape),
        boxes_(job.tiling.max_boxes()),
        reader_(*job.source,
                job.engine->decompresses() ? io::Compressed::left : io::Compressed::undone),
        scanning_(job.registry, stage::scan),
        writing_(thread.stages, stage::write),
        stop_waiting_(thread.stop, [engine = job.engine.get()] { engine->stop(); }) {}

  void take(const PassItem& item) override {
    const std::uint64_t tile = item.number / boxes_;
    const std::uint64_t number = item.number % boxes_;
    const Hyperslab box = job_.tiling.box(tile, number);
    const AxisSlab shape = shape_of(box, tile, number);
    AxisScanEngine& engine = *job_.engine;
    if (flat_index(box.start, shape_) > job_.overflow) return engine.leave_out(shape);
    const Ticket ticket = engine.take(thread_.number, shape);
    const StagedChunks slab = reader_.read(box, row_major_strides(box.count), ticket.memory);
    scanning_.time(0, [&] { engine.submit(ticket, slab); });
    under_way_.push_back(box);
    if (under_way_.size() == static_cast<std::size_t>(engine.under_way())) scan_first();
  }

  void finish() override {
    while (!under_way_.empty() && !thread_.stop.stop_requested()) scan_first();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    append(stages, {scanning_.timing(), writing_.timing()});
    return stages;
  }

 private:
  void scan_first() {
    const Hyperslab region = std::move(under_way_.front());
    under_way_.pop_front();
    const std::uint64_t bytes = region.elements() * size_of(job_.spec.input.type);
    const auto prefixes = scanning_.time(bytes, [&] { return job_.engine->scan(thread_.number); });
    if (!prefixes) return;
    if (const auto place = job_.engine->overflow(thread_.number))
      job_.note_overflow(index_of(region, *place));
    writing_.time(prefixes->size(), [&] { write(region, *prefixes); });
    thread_.done += prefixes->size();
  }

  AxisSlab shape_of(const Hyperslab& box, std::uint64_t tile, std::uint64_t number) const {
    const auto axis = static_cast<std::size_t>(job_.tiling.array().along.front());
    const std::span<const std::uint64_t> count = box.count;
    return {product(count.first(axis)), count[axis], product(count.subspan(axis + 1)), number, tile,
            number + 1 == boxes_};
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
      job_.last_bits = bits_of(prefixes.last(size), job_.spec.output);
  }

  LineJob& job_;
  PassThread& thread_;
  const std::vector<std::uint64_t>& shape_;
  std::uint64_t boxes_;  ///< boxes per tile
  std::deque<Hyperslab> under_way_;
  RegionReader reader_;
  StageTimer scanning_;
  StageTimer writing_;
  std::stop_callback<std::function<void()>> stop_waiting_;
};

/// Threads share tiles, `mine`, by their boxes, or take whole ones. Collective.
ScanOutcome scan_boxes(LineJob& job, ElementRange mine, int threads, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const std::uint64_t boxes = job.tiling.max_boxes();
  const PassItems items{.items = {mine.first * boxes, mine.count * boxes},
                        .threads = threads,
                        .bytes = product(job.tiling.array().shape) * size_of(job.spec.output),
                        .grain_size = job.engine->shares_lines() ? 1 : boxes};
  const auto make = [&](PassThread& thread) { return std::make_unique<LineConsumer>(job, thread); };
  const auto merge = [&](std::vector<StageTiming>& stages) {
    throw_overflow_on_all_ranks(job.overflow, job.spec, communicator);
    put_engine_stages(stages, stage::scan, job.engine->timings());
  };
  std::vector<StageTiming> stages = run_pass(items, run.monitor, communicator, make, merge);
  return {mpi::minimum({job.last_bits}, communicator).front(), std::move(stages)};
}

}  // namespace

ScanOutcome scan_lines(DatasetView& view, const ScanSpec& spec, const AxisShape& lines,
                       io::ContiguousWriter& writer, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const WorkPlan plan =
      plan_work(view.info(), needs_of_scan(lines, spec.output, run.place.gpu.has_value()), run);
  const WorkTiling& tiling = plan.tiling;
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.sizes.threads);
  LineJob job{tiling, spec, writer};
  run_on_all(communicator, [&] {
    job.source = std::make_unique<RegionSource>(view.dataset, run.monitor.stages());
    job.engine = run.make_engine([&](Backend& backend) {
      return backend.make_axis_scan_engine(
          staging_plan(plan, *job.source, view.decoding, run),
          {spec, tiling.max_outputs(), under_way(plan, *job.source)});
    });
    job.registry = registry_of_callers(*job.engine, run.monitor.stages());
  });
  return scan_boxes(job, plan.mine, std::min(plan.slots(), job.engine->threads()), run);
}

}  // namespace warpfold::pipeline
