#include "pipeline/regions/block_source.hpp"

#include <algorithm>

#include "core/engine/stage_timer.hpp"
#include "core/layout/chunk_grid.hpp"
#include "core/layout/partition.hpp"
#include "core/layout/staged_chunks.hpp"
#include "io/chunks/chunk_source.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {
namespace {

/// Runs of elements.
class RangeSource : public BlockSource {
 public:
  RangeSource(io::Dataset& dataset, std::uint64_t piece_elements, int readers,
              StageRegistry& registry)
      : dataset_(dataset),
        piece_elements_(piece_elements),
        element_bytes_(size_of(dataset.info().format.type)),
        timers_(registry, stage::read, readers) {}

  int max_loading(int threads) const override {
    return dataset_.info().path == ReadPath::library ? 1 : threads;
  }

  std::uint64_t pieces(ElementRange range) const override {
    return ceil_div(range.count, piece_elements_);
  }

  std::vector<StageTiming> timings() const override { return timers_.timings(); }

 protected:
  /// Calls read(range of the dataset) for a part of a block.
  template <class Read>
  decltype(auto) timed(int reader, const BlockTask& task, ElementRange part, Read&& read) {
    return timers_[reader].time(part.count * element_bytes_, [&] {
      return read(ElementRange{task.range.first + part.first, part.count});
    });
  }

  ElementRange part_of(const BlockTask& task, std::uint64_t piece) const {
    return block_range(task.range.count, piece_elements_, piece);
  }

  io::Dataset& dataset_;
  std::uint64_t piece_elements_;
  std::size_t element_bytes_;

 private:
  StageTimers timers_;
};

/// Read into the engine's input.
class CachedSource final : public RangeSource {
 public:
  using RangeSource::RangeSource;

  std::uint64_t staging_bytes() const override { return 0; }

  void load(int reader, const BlockTask& task, std::uint64_t piece, BlockLoader& engine) override {
    const ElementRange part = part_of(task, piece);
    const std::span<std::byte> memory = engine.input(reader, task.block, part.first, part.count);
    timed(reader, task, part, [&](ElementRange range) { dataset_.read(range, memory); });
    engine.load(reader, task.block, part.first, part.count);
  }
};

/// Read past the operating system's cache, which takes memory aligned as the file is: to the engine
/// they come as the chunks of a block that is cut into pieces.
class UncachedSource final : public RangeSource {
 public:
  using RangeSource::RangeSource;

  std::uint64_t staging_bytes() const override {
    return piece_elements_ * element_bytes_ + io::fetch_slack;
  }

  void load(int reader, const BlockTask& task, std::uint64_t piece, BlockLoader& engine) override {
    const std::span<std::byte> staging = engine.staging(reader);
    const std::span<std::byte> there =
        timed(reader, task, part_of(task, piece),
              [&](ElementRange range) { return dataset_.fetch(range, staging); });
    const std::uint64_t extent = task.range.count;
    const ChunkGrid grid = chunk_grid({&extent, 1}, {&piece_elements_, 1});
    const StagedChunk chunk{piece, static_cast<std::uint64_t>(there.data() - staging.data())};
    engine.load(reader, task.block, {grid, flat_target(grid, {0, extent}), {&chunk, 1}});
  }
};

/// Runs of whole chunks, taken apart by the engine. One that two blocks share is read for both.
class ChunkedSource final : public BlockSource {
 public:
  ChunkedSource(const io::DatasetInfo& info, std::uint64_t piece_elements, int readers,
                StageRegistry& registry)
      : info_(info),
        source_(info, {0, io::grid_of(info).chunks()}),
        chunks_per_piece_(
            std::max<std::uint64_t>(1, piece_elements / source_.grid().chunk_elements())) {
    for (int reader = 0; reader < readers; ++reader) readers_.emplace_back(source_, registry);
  }

  std::uint64_t staging_bytes() const override { return source_.staging_bytes(chunks_per_piece_); }

  int max_loading(int threads) const override { return threads; }

  std::uint64_t pieces(ElementRange range) const override {
    return ceil_div(chunks_overlapping(source_.grid(), range).count, chunks_per_piece_);
  }

  void load(int reader, const BlockTask& task, std::uint64_t piece, BlockLoader& engine) override {
    const ChunkRun all = chunks_overlapping(source_.grid(), task.range);
    const std::uint64_t first = piece * chunks_per_piece_;
    const ChunkRun run{all.first + first, std::min(chunks_per_piece_, all.count - first)};
    const auto chunks =
        readers_[static_cast<std::size_t>(reader)].read(run, engine.staging(reader));
    engine.load(reader, task.block,
                {source_.grid(), flat_target(source_.grid(), task.range), chunks, info_.fill});
  }

  std::vector<StageTiming> timings() const override {
    std::vector<StageTiming> timings;
    for (const io::ChunkSource::Reader& reader : readers_) {
      append(timings, reader.timings());
    }
    return timings;
  }

 private:
  const io::DatasetInfo& info_;
  io::ChunkSource source_;
  std::uint64_t chunks_per_piece_;
  std::vector<io::ChunkSource::Reader> readers_;
};

}  // namespace

std::unique_ptr<BlockSource> make_block_source(io::Dataset& dataset, std::uint64_t piece_elements,
                                               int readers, StageRegistry& registry) {
  const io::DatasetInfo& info = dataset.info();
  if (info.layout == io::Layout::chunked && info.path != ReadPath::library)
    return std::make_unique<ChunkedSource>(info, piece_elements, readers, registry);
  if (dataset.may_read_past_cache())
    return std::make_unique<UncachedSource>(dataset, piece_elements, readers, registry);
  return std::make_unique<CachedSource>(dataset, piece_elements, readers, registry);
}

}  // namespace warpfold::pipeline
