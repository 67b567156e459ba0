#include "pipeline/regions/slab_source.hpp"

#include "core/engine/stage_clock.hpp"
#include "io/chunks/chunk_source.hpp"

namespace warpfold::pipeline {
namespace {

class RangeReader final : public SlabReader {
 public:
  RangeReader(io::Dataset& dataset, const SlabCut& cut, StageBoard& board)
      : dataset_(dataset), cut_(cut), clock_(board, stage::read) {}

  StagedSlab read(std::uint64_t slab, std::span<std::byte> buffer) override {
    const ElementRange range = cut_.range(slab);
    const std::uint64_t bytes = range.count * size_of(dataset_.info().format.type);
    const std::span<std::byte> there =
        clock_.time(bytes, [&] { return dataset_.fetch(range, buffer); });
    return RawSlab{static_cast<std::uint64_t>(there.data() - buffer.data()), range};
  }

  std::vector<StageTiming> timings() const override { return {clock_.timing()}; }

 private:
  io::Dataset& dataset_;
  const SlabCut& cut_;
  StageClock clock_;
};

class RangeSource final : public SlabSource {
 public:
  RangeSource(io::Dataset& dataset, const SlabCut& cut, StageBoard& board)
      : dataset_(dataset), cut_(cut), board_(board) {}

  std::uint64_t staging_bytes() const override {
    return cut_.most_elements() * size_of(dataset_.info().format.type) + io::fetch_slack;
  }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<RangeReader>(dataset_, cut_, board_);
  }

 private:
  io::Dataset& dataset_;
  SlabCut cut_;
  StageBoard& board_;
};

class BoxReader final : public SlabReader {
 public:
  BoxReader(const io::ChunkSource& source, const SlabCut& cut, const io::DatasetInfo& info,
            StageBoard& board)
      : reader_(source, board), cut_(cut), grid_(source.grid()), info_(info) {}

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
  BoxSource(const io::DatasetInfo& info, const SlabCut& cut, ElementRange mine, StageBoard& board)
      : info_(info), cut_(cut), chunks_(info, cut.chunks(mine)), board_(board) {}

  std::uint64_t staging_bytes() const override { return chunks_.staging_bytes(cut_.most_chunks()); }

  std::unique_ptr<SlabReader> make_reader() override {
    return std::make_unique<BoxReader>(chunks_, cut_, info_, board_);
  }

 private:
  const io::DatasetInfo& info_;
  SlabCut cut_;
  io::ChunkSource chunks_;
  StageBoard& board_;
};

}  // namespace

std::unique_ptr<SlabSource> make_slab_source(io::Dataset& dataset, const SlabCut& cut,
                                             ElementRange mine, StageBoard& board) {
  if (cut.in_chunks()) return std::make_unique<BoxSource>(dataset.info(), cut, mine, board);
  return std::make_unique<RangeSource>(dataset, cut, board);
}

}  // namespace warpfold::pipeline
