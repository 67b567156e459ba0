#include "pipeline/regions/block_source.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

BlockSource::BlockSource(io::Dataset& dataset, const WorkPlan& plan, StageRegistry& registry)
    : source_(dataset, registry), registry_(registry), sizes_(plan.sizes) {
  if (const ChunkGrid* grid = source_.grid())
    piece_chunks_ = std::max<std::uint64_t>(1, sizes_.piece_elements / grid->chunk_elements());
  for (int reader = 0; reader < plan.threads; ++reader) readers_.emplace_back(source_);
}

BlockEnginePlan BlockSource::engine_plan(const Decoding& decoding) {
  const auto threads = static_cast<int>(readers_.size());
  const std::uint64_t bytes = source_.grid() != nullptr
                                  ? source_.bytes_of_chunks(piece_chunks_)
                                  : source_.bytes_of_range(sizes_.piece_elements);
  return {{source_.info().format, decoding, sizes_.piece_elements, bytes, source_.staging(),
           threads, &registry_, compressed_block()},
          sizes_.item_elements,
          threads};
}

void BlockSource::leave_compressed() {
  const std::size_t threads = readers_.size();
  readers_.clear();
  while (readers_.size() < threads) readers_.emplace_back(source_, io::Compressed::left);
}

/// Returns what a block brings, wherever it begins.
CompressedChunks BlockSource::compressed_block() {
  const ChunkGrid* grid = source_.grid();
  if (grid == nullptr) return {};
  const std::uint64_t chunks = max_chunks_overlapping(*grid, sizes_.item_elements);
  return source_.compressed(chunks, piece_chunks_, readers_.size());
}

int BlockSource::max_loading() const {
  return source_.info().path == ReadPath::library ? 1 : static_cast<int>(readers_.size());
}

std::uint64_t BlockSource::pieces(ElementRange range) const {
  if (const ChunkGrid* grid = source_.grid())
    return ceil_div(chunks_overlapping(*grid, range).count, piece_chunks_);
  return ceil_div(range.count, sizes_.piece_elements);
}

void BlockSource::load(int reader, int block, ElementRange range, std::uint64_t piece,
                       BlockEngine& engine) {
  RegionReader& from = readers_[static_cast<std::size_t>(reader)];
  if (const ChunkGrid* grid = source_.grid()) {
    const auto memory = engine.buffer(reader, block, {0, range.count});
    const ChunkRun all = chunks_overlapping(*grid, range);
    const ElementRange part = block_range(all.count, piece_chunks_, piece);
    engine.load(reader, block,
                from.read({all.first + part.first, part.count}, flat_target(*grid, range),
                          {.first = range.first}, memory));
  } else {
    const ElementRange places = block_range(range.count, sizes_.piece_elements, piece);
    const auto memory = engine.buffer(reader, block, places);
    engine.load(reader, block,
                from.read({range.first + places.first, places.count}, places.first, memory));
  }
}

std::vector<StageTiming> BlockSource::timings() const {
  std::vector<StageTiming> timings;
  for (const RegionReader& reader : readers_) append(timings, reader.timings());
  return timings;
}

}  // namespace warpfold::pipeline
