#include "pipeline/reduce/axis_reduce_pipeline.hpp"

#include <algorithm>
#include <deque>
#include <exception>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "core/results/axis_totals.hpp"
#include "cpu/machine/machine.hpp"
#include "mpi/agreement.hpp"
#include "mpi/message.hpp"
#include "pipeline/regions/box_tiling.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

std::span<const std::uint64_t> as_words(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const std::uint64_t*>(bytes.data()),
          bytes.size() / sizeof(std::uint64_t)};
}

int rank_of(const WorkTiling& tiling, std::uint64_t item, int ranks) {
  int rank = 0;
  while (share_of(tiling.items(), ranks, rank).end() <= item) ++rank;
  return rank;
}

/// Tiles of which a rank's threads have reduced some items.
class AxisTiles {
 public:
  /// `values` is the elements' type once decoded.
  AxisTiles(const WorkTiling& tiling, ElementType values, ReduceNeeds needs)
      : tiling_(tiling), values_(values), needs_(needs) {}

  /// Adds a reduction of `items` items of a tile; returns the tile once all of its items are there.
  /// Threads may add at once, and merge different parts of a tile at the same time.
  std::optional<AxisTotals> add(std::uint64_t tile, std::uint64_t items, AxisParts parts);

  /// Combines what ranks have of the tiles they share, on the lowest of them; returns the tile that
  /// this rank has completed so, if any. Collective; throws the same Error on every rank.
  std::optional<std::pair<std::uint64_t, AxisTotals>> combine(
      const mpi::Communicator& communicator);

 private:
  struct Partial {
    AxisTotals totals;
    std::uint64_t items;
  };

  struct Message {
    std::uint64_t tile;
    int to;
    std::vector<std::uint64_t> words;
  };

  void pack_for_others(const mpi::Communicator& communicator);

  /// Takes out what there is of a tile; stores a partial, and returns nothing, where there is none.
  std::optional<Partial> exchange(std::uint64_t tile, Partial& partial);

  const WorkTiling& tiling_;
  ElementType values_;
  ReduceNeeds needs_;
  std::mutex mutex_;
  std::map<std::uint64_t, Partial> partials_;
  std::vector<Message> messages_;
};

std::optional<AxisTotals> AxisTiles::add(std::uint64_t tile, std::uint64_t items, AxisParts parts) {
  Partial sum{AxisTotals(values_, needs_, std::move(parts)), items};
  while (sum.items < tiling_.items_of_tile()) {
    const std::optional<Partial> other = exchange(tile, sum);
    if (!other) return std::nullopt;
    sum.totals.merge(other->totals.parts());
    sum.items += other->items;
  }
  return std::move(sum.totals);
}

std::optional<AxisTiles::Partial> AxisTiles::exchange(std::uint64_t tile, Partial& partial) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_first] = partials_.try_emplace(tile, std::move(partial));
  if (is_first) return std::nullopt;
  Partial other = std::move(place->second);
  partials_.erase(place);
  return other;
}

std::optional<std::pair<std::uint64_t, AxisTotals>> AxisTiles::combine(
    const mpi::Communicator& communicator) {
  // Partial tiles are the first and the last of this rank's. Ranks send before they receive, and to
  // lower ones alone, so that no deadlock is possible.
  run_on_all(communicator, [&] { pack_for_others(communicator); });
  for (const Message& each : messages_)
    mpi::send(each.tile, std::as_bytes(std::span(each.words)), communicator, each.to);
  messages_.clear();

  std::optional<std::pair<std::uint64_t, AxisTotals>> completed;
  std::exception_ptr failure;
  for (auto& [tile, partial] : partials_) {
    const int last =
        rank_of(tiling_, (tile + 1) * tiling_.items_of_tile() - 1, communicator.size());
    std::vector<std::byte> bytes;
    for (int other = communicator.rank() + 1; other <= last; ++other) {
      mpi::receive(bytes, communicator, other);
      try {
        partial.totals.merge(as_words(bytes));
      } catch (...) {
        failure = std::current_exception();
      }
    }
    completed.emplace(tile, std::move(partial.totals));
  }
  mpi::throw_on_all_ranks(failure, communicator);
  return completed;
}

void AxisTiles::pack_for_others(const mpi::Communicator& communicator) {
  for (auto next = partials_.begin(); next != partials_.end();) {
    const auto& [tile, partial] = *next;
    const int owner = rank_of(tiling_, tile * tiling_.items_of_tile(), communicator.size());
    if (owner == communicator.rank()) {
      ++next;
      continue;
    }
    messages_.push_back({tile, owner, partial.totals.packed()});
    next = partials_.erase(next);
  }
}

/// State shared by a rank's threads.
struct RowJob {
  const WorkTiling& tiling;  ///< the same on every rank
  std::size_t element_bytes;
  AxisWriter& writer;
  AxisTiles tiles;
  std::unique_ptr<RegionSource> source = {};
  std::unique_ptr<AxisReduceEngine> engine = {};
  StageRegistry* registry = nullptr;  ///< registry of the reduction's stages
};

/// Takes items, of which several are under way. Those of one tile that follow one another are
/// reduced as one.
class RowConsumer final : public Consumer {
 public:
  RowConsumer(RowJob& job, PassThread& thread)
      : job_(job),
        thread_(thread),
        reader_(*job.source,
                job.engine->decompresses() ? io::Compressed::left : io::Compressed::undone),
        reducing_(job.registry, stage::reduce),
        combining_(thread.stages, stage::combine),
        timers_(&thread.stages) {}

  void take(const PassItem& item) override {
    const std::uint64_t tile = job_.tiling.tile(item.number);
    if (job_.writer.failed_before(job_.tiling.outputs(tile))) return;
    if (open_.empty() || open_.back().tile != tile) open(tile);
    const ElementRange boxes = job_.tiling.boxes(item.number);
    for (std::uint64_t box = boxes.first; box < boxes.end() && !thread_.stop.stop_requested();
         ++box)
      reduce(job_.tiling.box(tile, box));
    ++open_.back().items;
  }

  void finish() override {
    while (!open_.empty()) close_first();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    append(stages, {reducing_.timing(), combining_.timing()});
    append(stages, timers_.timings());
    return stages;
  }

 private:
  struct OpenTile {
    std::uint64_t tile;
    std::uint64_t items = 0;  ///< items of it that were reduced
  };

  void open(std::uint64_t tile) {
    if (open_.size() == static_cast<std::size_t>(job_.engine->under_way())) close_first();
    open_.push_back({tile});
    job_.engine->begin(thread_.number, job_.tiling.outputs(tile).elements());
  }

  void close_first() {
    const OpenTile open = open_.front();
    open_.pop_front();
    AxisParts parts = reducing_.time(0, [&] { return job_.engine->finish(thread_.number); });
    const std::optional<AxisTotals> complete =
        combining_.time(parts.counts.size() * sizeof(AxisCounts),
                        [&] { return job_.tiles.add(open.tile, open.items, std::move(parts)); });
    if (complete) job_.writer.write(job_.tiling.outputs(open.tile), *complete, timers_);
  }

  void reduce(const Hyperslab& box) {
    const std::uint64_t bytes = box.elements() * job_.element_bytes;
    const Ticket ticket = job_.engine->take(thread_.number);
    StagedChunks slab =
        reader_.read(box, job_.tiling.matrix_strides(box), ticket.memory, is_grouped_);
    slab.factor_places = job_.tiling.factor_places(box);
    slab.rows = job_.tiling.row_indices(box);
    reducing_.time(bytes, [&] { job_.engine->submit(ticket, slab); });
    thread_.done += bytes;
  }

  RowJob& job_;
  PassThread& thread_;
  std::deque<OpenTile> open_;
  bool is_grouped_ = job_.tiling.array().groups.has_value();  ///< so that tiles share chunks
  RegionReader reader_;
  StageTimer reducing_;
  StageTimer combining_;
  OutputTimers timers_;
};

/// Returns how many items a thread takes in a row of `items`, its share, so that it reads chunks
/// that several groups are parts of about once.
std::uint64_t grain_size_of(const io::DatasetInfo& info, const WorkTiling& tiling,
                            std::uint64_t items) {
  constexpr std::uint64_t rounds = 4;
  constexpr std::uint64_t max_chunks = 8;
  const auto d = static_cast<std::size_t>(tiling.grouped());
  const std::uint64_t groups = granule_of(info)[d] / tiling.box_extents()[d];
  if (!tiling.array().groups || groups <= 1) return 1;
  return std::clamp(items / rounds, groups, groups * max_chunks);
}

/// Collective.
std::vector<StageTiming> reduce_items(RowJob& job, ElementRange mine, int threads, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  const PassItems items{
      .items = mine,
      .threads = threads,
      .bytes = product(job.tiling.array().shape) * job.element_bytes,
      .grain_size = grain_size_of(job.source->info(), job.tiling,
                                  mine.count / static_cast<std::uint64_t>(threads))};
  const auto make = [&](PassThread& thread) { return std::make_unique<RowConsumer>(job, thread); };
  return run_pass(items, run.monitor, communicator, make, [&](std::vector<StageTiming>& stages) {
    job.writer.failure().throw_on_all_ranks(communicator);
    StageTimer combine(run.monitor.stages(), stage::combine);
    const auto shared = combine.time(0, [&] { return job.tiles.combine(communicator); });
    OutputTimers untimed(nullptr);
    run_on_all(communicator, [&] {
      if (shared) job.writer.write(job.tiling.outputs(shared->first), shared->second, untimed);
    });
    job.writer.failure().throw_on_all_ranks(communicator);
    put_engine_stages(stages, stage::reduce, job.engine->timings());
    append(stages, {combine.timing()});
  });
}

/// Returns the dimensions that elements' factors vary along.
std::vector<int> dimensions_of(const Factors& factors, std::span<const std::uint64_t> shape) {
  const std::vector<std::uint64_t> strides = row_major_strides(shape);
  std::vector<int> dimensions;
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (strides[d] >= factors.stride && strides[d] < factors.stride * factors.period)
      dimensions.push_back(static_cast<int>(d));
  return dimensions;
}

/// Returns the array with the axes of factors, which cores go by. Collective.
AxisShape with_factors(AxisShape array, const Factors& factors, const Run& run) {
  const std::uint64_t by_cores = factors.any() && !run.place.gpu ? 1 : 0;
  if (mpi::minimum({by_cores}, run.communicator).front() == 0) return array;
  std::vector<int> axes;
  std::ranges::set_intersection(array.along, dimensions_of(factors, array.shape),
                                std::back_inserter(axes));
  // Rows of few elements a factor stay in their order, which is that of the memory.
  constexpr std::uint64_t least_rows = 8;
  const std::uint64_t factor_rows = product(extents_of(array.shape, axes));
  if (factor_rows > 0 && array.rows() / factor_rows >= least_rows) array.factor_axes = axes;
  return array;
}

}  // namespace

std::vector<StageTiming> reduce_rows(DatasetView& view, const AxisShape& array,
                                     const ReduceNeeds& needs, AxisWriter& writer, Run& run,
                                     const Factors& factors) {
  const mpi::Communicator& communicator = run.communicator;
  const WorkPlan plan =
      plan_work(view.info(), needs_of_rows(with_factors(array, factors, run), needs), run);
  const WorkTiling& tiling = plan.tiling;
  // Threads and the memory that they touch first stay near the GPU.
  const cpu::ThreadBinding binding(run.place.near_gpu, plan.sizes.threads);
  const ElementType values = factors.any() ? ElementType::f64 : view.value_type();
  RowJob job{tiling, size_of(view.info().format.type), writer, AxisTiles(tiling, values, needs)};
  run_on_all(communicator, [&] {
    job.source = std::make_unique<RegionSource>(view.dataset, run.monitor.stages());
    const StagingPlan staging = staging_plan(plan, *job.source, view.decoding, run);
    const AxisReduceSpec spec{needs, tiling.max_outputs(), under_way(plan, *job.source), factors};
    job.engine = run.make_engine(
        [&](Backend& backend) { return backend.make_axis_reduce_engine(staging, spec); });
    if (!job.engine) job.engine = run.cores().make_axis_reduce_engine(staging, spec);
    job.registry = registry_of_callers(*job.engine, run.monitor.stages());
  });
  return reduce_items(job, plan.mine, std::min(plan.slots(), job.engine->threads()), run);
}

void write_outputs_of_nothing(ElementType values, const ReduceNeeds& needs, AxisWriter& writer,
                              Run& run) {
  constexpr std::uint64_t max_outputs = std::uint64_t{1} << 16;
  const std::uint64_t outputs = product(writer.output_shape());
  const auto ranks = static_cast<std::uint64_t>(run.communicator.size());
  const auto rank = static_cast<std::uint64_t>(run.communicator.rank());
  OutputTimers untimed(nullptr);
  run_on_all(run.communicator, [&] {
    for (std::uint64_t block = rank; block * max_outputs < outputs; block += ranks) {
      run.monitor.poll();
      const ElementRange range = block_range(outputs, max_outputs, block);
      writer.write(range, AxisTotals(values, needs, range.count), untimed);
    }
  });
  writer.failure().throw_on_all_ranks(run.communicator);
}

}  // namespace warpfold::pipeline
