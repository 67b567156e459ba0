#include "pipeline/regions/slab_source.hpp"

#include "core/engine/stage_timer.hpp"
#include "io/chunks/chunk_source.hpp"

namespace warpfold::pipeline {
namespace {

class RangeReader final : public SlabReader {
 public:
  RangeReader(io::Dataset& dataset, const SlabTiling& tiling, StageRegistry& registry)
      : dataset_(dataset), tiling_(tiling), timer_(registry, stage::read) {}

  StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) override {
    const ElementRange range = tiling_.slabs.range(slab);
    const std::uint64_t bytes = range.count * size_of(dataset_.info().format.type);
    const std::span<std::byte> there =
        timer_.time(bytes, [&] { return dataset_.fetch(range, buffer); });
    return RawSlab{static_cast<std::uint64_t>(there.data() - buffer.data()), range};
  }

  std::vector<StageTiming> timings() const override { return {timer_.timing()}; }

 private:
  io::Dataset& dataset_;
  const SlabTiling& tiling_;
  StageTimer timer_;
};

class RangeSource final : public SlabSource {
 public:
  RangeSource(io::Dataset& dataset, const SlabTiling& tiling, StageRegistry& registry)
      : dataset_(dataset), tiling_(tiling), registry_(registry) {}

  std::uint64_t staging_bytes() const override {
    return tiling_.max_elements * size_of(dataset_.info().format.type) + io::fetch_slack;
  }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<RangeReader>(dataset_, tiling_, registry_);
  }

 private:
  io::Dataset& dataset_;
  SlabTiling tiling_;
  StageRegistry& registry_;
};

class BoxReader final : public SlabReader {
 public:
  BoxReader(const io::ChunkSource& source, const SlabTiling& tiling, const io::DatasetInfo& info,
            StageRegistry& registry)
      : reader_(source, registry), tiling_(tiling), grid_(source.grid()), info_(info) {}

  StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) override {
    const ChunkRun run = chunks_of(tiling_.slabs, {slab, 1});
    const std::span<const StagedChunk> chunks = reader_.read(run, buffer);
    return ChunkSlab{{grid_, box_target(grid_, run), chunks, info_.fill}, box_indices(grid_, run)};
  }

  std::vector<StageTiming> timings() const override { return reader_.timings(); }

 private:
  io::ChunkSource::Reader reader_;
  const SlabTiling& tiling_;
  const ChunkGrid& grid_;
  const io::DatasetInfo& info_;
};

class BoxSource final : public SlabSource {
 public:
  BoxSource(const io::DatasetInfo& info, const SlabTiling& tiling, ElementRange mine,
            StageRegistry& registry)
      : info_(info),
        tiling_(tiling),
        chunks_(info, chunks_of(tiling.slabs, mine)),
        registry_(registry) {}

  std::uint64_t staging_bytes() const override {
    return chunks_.staging_bytes(tiling_.slabs.max_places());
  }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<BoxReader>(chunks_, tiling_, info_, registry_);
  }

 private:
  const io::DatasetInfo& info_;
  SlabTiling tiling_;
  io::ChunkSource chunks_;
  StageRegistry& registry_;
};

}  // namespace

std::unique_ptr<SlabSource> make_slab_source(io::Dataset& dataset, const SlabTiling& tiling,
                                             ElementRange mine, StageRegistry& registry) {
  if (tiling.in_chunks) return std::make_unique<BoxSource>(dataset.info(), tiling, mine, registry);
  return std::make_unique<RangeSource>(dataset, tiling, registry);
}

}  // namespace warpfold::pipeline
