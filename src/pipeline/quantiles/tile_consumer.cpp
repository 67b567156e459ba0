#include <algorithm>

#include "pipeline/quantiles/quantile_job.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

TileConsumer::TileConsumer(QuantileJob& job, PassThread& thread, io::Compressed compressed,
                           const char* work)
    : job_(job),
      thread_(thread),
      reader_(job.source, compressed),
      working_(thread.stages, work),
      writing_(thread.stages, stage::write) {}

void TileConsumer::take(const PassItem& taken) {
  const TileItems::Item item = job_.items.item(taken.number);
  if (item.box && job_.progress.wait_for_table(item.number, thread_.stop)) take_box(item);
  if (item.lines && job_.progress.wait_until_filled(item.number, thread_.stop)) take_part(item);
}

std::vector<StageTiming> TileConsumer::timings() const {
  std::vector<StageTiming> stages = reader_.timings();
  if (job_.engine) append(stages, {{stage::reduce}});  // the engine's stages come in its place
  append(stages, {working_.timing(), writing_.timing()});
  return stages;
}

void TileConsumer::take_box(const TileItems::Item& item) {
  const Hyperslab box = job_.tiling.box(item.tile, *item.box);
  gather(item, box);
  thread_.done += box.elements() * size_of(job_.view.info().format.type);
  if (!job_.progress.add_box(item.number)) return;
  search(item);
  job_.progress.set_filled(item.number);
}

void TileConsumer::take_part(const TileItems::Item& item) {
  const std::uint64_t lines = item.lines->count;
  if (lines > 0) {
    std::vector<std::byte> quantiles(job_.wanted.writers.size() * lines *
                                     size_of(job_.wanted.spec.type));
    working_.time(0, [&] { find(item, quantiles.data()); });
    writing_.time(quantiles.size(), [&] {
      for_each_run(job_.tiling.outputs(item.tile), job_.output_shape,
                   [&](std::uint64_t place, std::uint64_t index, std::uint64_t count) {
                     write(*item.lines, {place, count}, index, quantiles);
                   });
    });
  }
  job_.progress.add_part(item.number);
}

/// Writes what is of `lines` of a run of a tile's outputs, whose first one has that index.
void TileConsumer::write(const ElementRange& lines, const ElementRange& outputs,
                         std::uint64_t index, std::span<const std::byte> quantiles) {
  const std::uint64_t first = std::max(lines.first, outputs.first);
  const std::uint64_t end = std::min(lines.end(), outputs.end());
  if (first >= end) return;
  const std::size_t size = size_of(job_.wanted.spec.type);
  std::uint64_t from = first - lines.first;
  for (io::ContiguousWriter* const writer : job_.wanted.writers) {
    writer->write((index + (first - outputs.first)) * size,
                  quantiles.subspan(from * size, (end - first) * size));
    from += lines.count;
  }
}

}  // namespace warpfold::pipeline
