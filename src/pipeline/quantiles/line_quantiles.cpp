#include "pipeline/quantiles/line_quantiles.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "core/layout/partition.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "cpu/reduce/quantile_finder.hpp"
#include "pipeline/regions/region_reader.hpp"
#include "pipeline/regions/staging.hpp"
#include "pipeline/regions/work_plan.hpp"
#include "pipeline/run/collective.hpp"
#include "pipeline/run/pass.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

/// A rank's tiles, taken in batches: threads gather all boxes of a batch before they look for
/// quantiles in parts of its tiles. An item is a box or a part; some are empty.
class TileBatches {
 public:
  /// Takes the most tiles of a batch.
  TileBatches(const WorkTiling& tiling, ElementRange tiles, std::uint64_t most, int threads)
      : tiling_(tiling), tiles_(tiles), boxes_(tiling.max_boxes()) {
    const std::uint64_t wanted = items_of_thread * static_cast<std::uint64_t>(threads);
    most = std::min(most, tiles.count);
    tiles_of_batch_ =
        std::clamp<std::uint64_t>(ceil_div(wanted, boxes_), 1, std::max<std::uint64_t>(1, most));
    parts_ = ceil_div(wanted, tiles_of_batch_);
  }

  std::uint64_t tiles_of_batch() const { return tiles_of_batch_; }
  std::uint64_t items() const { return ceil_div(tiles_.count, tiles_of_batch_) * items_of_batch(); }

  struct Item {
    std::uint64_t after = 0;           ///< items that are to be done before
    std::uint64_t place = 0;           ///< place of the tile in its batch
    std::uint64_t tile = 0;            ///< it has
    std::optional<std::uint64_t> box;  ///< a box, or
    ElementRange lines;                ///< some outputs, or nothing
  };

  Item item(std::uint64_t number) const {
    const std::uint64_t batch = number / items_of_batch();
    const std::uint64_t begin = batch * items_of_batch();
    const std::uint64_t boxes = tiles_of_batch_ * boxes_;
    const bool is_box = number - begin < boxes;
    const std::uint64_t of_step = number - begin - (is_box ? 0 : boxes);
    const std::uint64_t of_tile = is_box ? boxes_ : parts_;
    Item item;
    item.after = begin + (is_box ? 0 : boxes);
    item.place = of_step / of_tile;
    item.tile = tiles_.first + batch * tiles_of_batch_ + item.place;
    if (item.tile >= tiles_.end()) return item;
    const std::uint64_t of_item = of_step % of_tile;
    if (!is_box)
      item.lines =
          partition(tiling_.outputs(item.tile).elements(), lines_together, parts_, of_item);
    else if (of_item < tiling_.boxes_of_tile(item.tile))
      item.box = of_item;
    return item;
  }

 private:
  /// Boxes of a batch for each thread, and parts, so that all end at about the same time.
  static constexpr std::uint64_t items_of_thread = 16;

  /// Lines whose elements lie side by side, and share the lines of a cache, go to one thread.
  static constexpr std::uint64_t lines_together = 64;

  std::uint64_t items_of_batch() const { return tiles_of_batch_ * (boxes_ + parts_); }

  const WorkTiling& tiling_;
  ElementRange tiles_;
  std::uint64_t boxes_;  ///< maximum per tile
  std::uint64_t tiles_of_batch_;
  std::uint64_t parts_;  ///< parts per tile
};

/// Has threads that take items in order wait until all before some item are done.
class ItemsDone {
 public:
  void add() {
    const std::lock_guard lock(mutex_);
    ++done_;
    changed_.notify_all();
  }

  /// Returns whether so many are done: false once the work is to stop.
  bool wait_for(std::uint64_t items, const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    return changed_.wait(lock, stop, [&] { return done_ >= items; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::uint64_t done_ = 0;
};

/// State shared by a rank's threads.
struct QuantileJob {
  const WorkTiling& tiling;
  const DatasetView& view;
  const LineQuantiles& wanted;
  std::vector<std::uint64_t> output_shape;
  TileBatches batches;
  std::uint64_t tile_elements;  ///< at most
  RegionSource source;
  cpu::ValueTableBytes element_bytes;
  cpu::PageBuffer values;
  cpu::PageBuffer counted;
  ItemsDone done;

  /// Returns the table of a batch's tile.
  cpu::ValueTable table(std::uint64_t place) const {
    const std::uint64_t first = place * tile_elements;
    return {values.span().data() + first * element_bytes.value,
            element_bytes.counted > 0 ? counted.span().data() + first : nullptr};
  }
};

/// Takes boxes and parts of tiles.
class QuantileConsumer final : public Consumer {
 public:
  QuantileConsumer(QuantileJob& job, PassThread& thread)
      : job_(job),
        thread_(thread),
        staging_(staging_bytes(job.tiling, job.source)),
        reader_(job.source),
        finder_(cpu::make_quantile_finder(job.view.info().format, job.view.decoding,
                                          job.wanted.spec, job.wanted.empty, job.wanted.type)),
        reducing_(thread.stages, stage::reduce),
        writing_(thread.stages, stage::write) {}

  void take(const PassItem& taken) override {
    const TileBatches::Item item = job_.batches.item(taken.number);
    if (!job_.done.wait_for(item.after, thread_.stop)) return;
    if (item.box)
      gather(item);
    else if (item.lines.count > 0)
      find(item);
    job_.done.add();
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> stages = reader_.timings();
    append(stages, {reducing_.timing(), writing_.timing()});
    return stages;
  }

 private:
  void gather(const TileBatches::Item& item) {
    const Hyperslab box = job_.tiling.box(item.tile, *item.box);
    const std::vector<std::uint64_t> strides = row_major_strides(box.count);
    const StagedChunks slab = reader_.read(box, strides, staging_.span());
    const BoxIndices indices = box_indices(job_.tiling.box_in_tile(item.tile, *item.box), strides,
                                           job_.tiling.tile_shape(item.tile));
    const std::uint64_t bytes = box.elements() * size_of(job_.view.info().format.type);
    reducing_.time(bytes, [&] {
      finder_->gather(slab, staging_.span().data(), indices, job_.table(item.place));
    });
    thread_.done += bytes;
  }

  void find(const TileBatches::Item& item) {
    const std::size_t size = size_of(job_.wanted.type);
    std::vector<std::byte> quantiles(job_.wanted.writers.size() * item.lines.count * size);
    reducing_.time(0, [&] {
      const cpu::LineLayout layout(job_.tiling.tile_shape(item.tile), job_.tiling.array().along);
      finder_->find(job_.table(item.place), layout, item.lines, quantiles.data());
    });
    writing_.time(quantiles.size(), [&] {
      for_each_run(job_.tiling.outputs(item.tile), job_.output_shape,
                   [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
                     write(item.lines, {place, count}, index, quantiles);
                   });
    });
  }

  /// Writes what is of `lines` of a run of a tile's outputs, whose first one has that index.
  void write(const ElementRange& lines, const ElementRange& outputs, std::uint64_t index,
             std::span<const std::byte> quantiles) {
    const std::uint64_t first = std::max(lines.first, outputs.first);
    const std::uint64_t end = std::min(lines.end(), outputs.end());
    if (first >= end) return;
    const std::size_t size = size_of(job_.wanted.type);
    std::uint64_t from = first - lines.first;
    for (io::ContiguousWriter* const writer : job_.wanted.writers) {
      writer->write((index + (first - outputs.first)) * size,
                    quantiles.subspan(from * size, (end - first) * size));
      from += lines.count;
    }
  }

  QuantileJob& job_;
  PassThread& thread_;
  cpu::PageBuffer staging_;
  RegionReader reader_;
  std::unique_ptr<cpu::QuantileFinder> finder_;
  StageTimer reducing_;
  StageTimer writing_;
};

/// Returns how many elements an output has at most.
std::uint64_t longest_line(const AxisShape& array) {
  if (!array.groups) return array.rows();
  std::vector<std::uint64_t> indices(array.groups->count);
  for (const GroupRun& run : array.groups->runs) indices[run.group] += run.indices.count;
  const std::uint64_t along = array.shape[static_cast<std::size_t>(array.groups->dimension)];
  return array.rows() / along * *std::ranges::max_element(indices);
}

/// Returns the needs of tiles whose elements, of so many bytes each, stay within `memory`. Throws
/// where those of one output don't.
WorkNeeds needs_of_lines(const AxisShape& array, std::size_t element_bytes, std::uint64_t memory) {
  const std::uint64_t longest_bytes = longest_line(array) * element_bytes;
  if (longest_bytes > memory)
    throw Error("the elements of an output take " + std::to_string(longest_bytes) + " bytes",
                "quantiles along axes are found in " + std::to_string(memory) +
                    " bytes of each rank's memory",
                "Raise `quantile_memory_bytes`, reduce fewer at a time with `every`, or omit "
                "`axis` to reduce all elements.");
  return {.items = Items::tiles_in_memory, .array = array, .max_outputs = memory / longest_bytes};
}

}  // namespace

std::vector<StageTiming> find_quantiles_of_lines(DatasetView& view, const AxisShape& array,
                                                 const LineQuantiles& wanted, Run& run) {
  const mpi::Communicator& communicator = run.communicator;
  run_on_all(communicator, [&] { run.cores(); });
  const io::DatasetInfo& info = view.info();
  const cpu::ValueTableBytes bytes = cpu::value_table_bytes(info.format, view.decoding);
  const std::uint64_t memory = wanted.memory_bytes;
  const WorkPlan plan = plan_work(info, needs_of_lines(array, bytes.all(), memory), run);
  const WorkTiling& tiling = plan.tiling;
  const ElementRange mine = plan.mine;
  std::uint64_t tile_elements = 0;
  for (std::uint64_t tile = mine.first; tile < mine.end(); ++tile)
    tile_elements = std::max(tile_elements, product(tiling.tile_shape(tile)));
  std::unique_ptr<QuantileJob> job;
  run_on_all(communicator, [&] {
    const TileBatches batches(tiling, mine,
                              memory / std::max<std::uint64_t>(1, tile_elements * bytes.all()),
                              plan.threads);
    const std::uint64_t elements = batches.tiles_of_batch() * tile_elements;
    job.reset(new QuantileJob{tiling, view, wanted, array.output_shape(), batches, tile_elements,
                              RegionSource(view.dataset, run.monitor.stages()), bytes,
                              cpu::PageBuffer(elements * bytes.value),
                              cpu::PageBuffer(elements * bytes.counted), ItemsDone()});
  });
  return run_pass(
      {{0, job->batches.items()}, plan.threads, info.elements * size_of(info.format.type)},
      run.monitor, communicator,
      [&](PassThread& thread) { return std::make_unique<QuantileConsumer>(*job, thread); });
}

}  // namespace warpfold::pipeline
