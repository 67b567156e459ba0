#include "pipeline/regions/block_source.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

BlockSource::BlockSource(io::Dataset& dataset, const WorkPlan& plan, StageRegistry& registry)
    : source_(dataset, registry), registry_(registry), sizes_(plan.sizes) {
  if (const ChunkGrid* grid = source_.grid())
    piece_chunks_ = std::max<std::uint64_t>(1, sizes_.piece_elements / grid->chunk_elements());
}

BlockEnginePlan BlockSource::engine_plan(const Decoding& decoding) {
  BlockEnginePlan plan{{.format = source_.info().format,
                        .decoding = decoding,
                        .slab_elements = sizes_.piece_elements,
                        .staging_bytes = source_.bytes_of_range(sizes_.piece_elements),
                        .staging = source_.staging(),
                        .threads = sizes_.threads,
                        .stages = &registry_},
                       sizes_.item_elements,
                       sizes_.threads};
  if (const ChunkGrid* grid = source_.grid()) {
    // A block may begin anywhere in a chunk.
    const std::uint64_t chunks = max_chunks_overlapping(*grid, sizes_.item_elements);
    plan.pieces.staging_bytes = source_.bytes_of_chunks(piece_chunks_);
    plan.pieces.compressed =
        source_.compressed(chunks, piece_chunks_, static_cast<std::uint64_t>(sizes_.threads));
  }
  return plan;
}

void BlockSource::make_readers(io::Compressed compressed) {
  for (int reader = 0; reader < sizes_.threads; ++reader)
    readers_.emplace_back(source_, compressed);
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
    const Ticket ticket = engine.take(reader, block, {0, range.count});
    const ChunkRun all = chunks_overlapping(*grid, range);
    const ElementRange part = block_range(all.count, piece_chunks_, piece);
    engine.submit(ticket, from.read({all.first + part.first, part.count}, flat_target(*grid, range),
                                    {.first = range.first}, ticket.memory));
  } else {
    const ElementRange places = block_range(range.count, sizes_.piece_elements, piece);
    const Ticket ticket = engine.take(reader, block, places);
    engine.submit(
        ticket, from.read({range.first + places.first, places.count}, places.first, ticket.memory));
  }
}

std::vector<StageTiming> BlockSource::timings() const {
  std::vector<StageTiming> timings;
  for (const RegionReader& reader : readers_) append(timings, reader.timings());
  return timings;
}

}  // namespace warpfold::pipeline
