#include "pipeline/regions/slab_source.hpp"

#include "core/engine/stage_timer.hpp"
#include "io/chunks/chunk_source.hpp"

namespace warpfold::pipeline {
namespace {

class RangeReader final : public SlabReader {
 public:
  RangeReader(io::Dataset& dataset, const SlabCut& cut, StageRegistry& registry)
      : dataset_(dataset), cut_(cut), timer_(registry, stage::read) {}

  StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) override {
    const ElementRange range = cut_.range(slab);
    const std::uint64_t bytes = range.count * size_of(dataset_.info().format.type);
    const std::span<std::byte> there =
        timer_.time(bytes, [&] { return dataset_.fetch(range, buffer); });
    return RawSlab{static_cast<std::uint64_t>(there.data() - buffer.data()), range};
  }

  std::vector<StageTiming> timings() const override { return {timer_.timing()}; }

 private:
  io::Dataset& dataset_;
  const SlabCut& cut_;
  StageTimer timer_;
};

class RangeSource final : public SlabSource {
 public:
  RangeSource(io::Dataset& dataset, const SlabCut& cut, StageRegistry& registry)
      : dataset_(dataset), cut_(cut), registry_(registry) {}

  std::uint64_t staging_bytes() const override {
    return cut_.max_elements() * size_of(dataset_.info().format.type) + io::fetch_slack;
  }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<RangeReader>(dataset_, cut_, registry_);
  }

 private:
  io::Dataset& dataset_;
  SlabCut cut_;
  StageRegistry& registry_;
};

class BoxReader final : public SlabReader {
 public:
  BoxReader(const io::ChunkSource& source, const SlabCut& cut, const io::DatasetInfo& info,
            StageRegistry& registry)
      : reader_(source, registry), cut_(cut), grid_(source.grid()), info_(info) {}

  StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) override {
    const ChunkRun run = cut_.chunks({slab, 1});
    const std::span<const StagedChunk> chunks = reader_.read(run, buffer);
    return ChunkSlab{{grid_, box_target(grid_, run), chunks, info_.fill}, box_indices(grid_, run)};
  }

  std::vector<StageTiming> timings() const override { return reader_.timings(); }

 private:
  io::ChunkSource::Reader reader_;
  const SlabCut& cut_;
  const ChunkGrid& grid_;
  const io::DatasetInfo& info_;
};

class BoxSource final : public SlabSource {
 public:
  BoxSource(const io::DatasetInfo& info, const SlabCut& cut, ElementRange mine,
            StageRegistry& registry)
      : info_(info), cut_(cut), chunks_(info, cut.chunks(mine)), registry_(registry) {}

  std::uint64_t staging_bytes() const override { return chunks_.staging_bytes(cut_.max_chunks()); }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<BoxReader>(chunks_, cut_, info_, registry_);
  }

 private:
  const io::DatasetInfo& info_;
  SlabCut cut_;
  io::ChunkSource chunks_;
  StageRegistry& registry_;
};

}  // namespace

std::unique_ptr<SlabSource> make_slab_source(io::Dataset& dataset, const SlabCut& cut,
                                             ElementRange mine, StageRegistry& registry) {
  if (cut.in_chunks()) return std::make_unique<BoxSource>(dataset.info(), cut, mine, registry);
  return std::make_unique<RangeSource>(dataset, cut, registry);
}

}  // namespace warpfold::pipeline
