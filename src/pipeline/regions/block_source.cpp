#include "pipeline/regions/block_source.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "pipeline/run/stage_timings.hpp"

namespace warpfold::pipeline {

BlockSource::BlockSource(io::Dataset& dataset, std::uint64_t piece_elements, int readers,
                         StageRegistry& registry)
    : source_(dataset, registry), piece_elements_(piece_elements) {
  if (const ChunkGrid* grid = source_.grid())
    piece_chunks_ = std::max<std::uint64_t>(1, piece_elements / grid->chunk_elements());
  for (int reader = 0; reader < readers; ++reader) readers_.emplace_back(source_);
}

BlockEnginePlan BlockSource::plan(const Decoding& decoding, std::uint64_t block_elements,
                                  StageRegistry& registry) {
  const auto threads = static_cast<int>(readers_.size());
  const std::uint64_t bytes = source_.grid() != nullptr ? source_.bytes_of_chunks(piece_chunks_)
                                                        : source_.bytes_of_range(piece_elements_);
  return {{source_.info().format, decoding, piece_elements_, bytes, source_.staging(), threads,
           &registry, compressed_of(block_elements)},
          block_elements,
          threads};
}

void BlockSource::leave_compressed() {
  const std::size_t threads = readers_.size();
  readers_.clear();
  while (readers_.size() < threads) readers_.emplace_back(source_, io::Compressed::left);
}

/// Returns what blocks bring, wherever they begin.
CompressedChunks BlockSource::compressed_of(std::uint64_t block_elements) {
  const ChunkGrid* grid = source_.grid();
  if (grid == nullptr) return {};
  const std::uint64_t chunks = max_chunks_overlapping(*grid, block_elements);
  return source_.compressed(chunks, piece_chunks_, readers_.size());
}

int BlockSource::max_loading() const {
  return source_.info().path == ReadPath::library ? 1 : static_cast<int>(readers_.size());
}

std::uint64_t BlockSource::pieces(ElementRange range) const {
  if (const ChunkGrid* grid = source_.grid())
    return ceil_div(chunks_overlapping(*grid, range).count, piece_chunks_);
  return ceil_div(range.count, piece_elements_);
}

void BlockSource::load(int reader, const BlockTask& task, std::uint64_t piece,
                       BlockEngine& engine) {
  RegionReader& from = readers_[static_cast<std::size_t>(reader)];
  if (const ChunkGrid* grid = source_.grid()) {
    const Ticket ticket = engine.take(reader, task.block, {0, task.range.count});
    const ChunkRun all = chunks_overlapping(*grid, task.range);
    const std::uint64_t first = piece * piece_chunks_;
    const ChunkRun run{all.first + first, std::min(piece_chunks_, all.count - first)};
    engine.submit(ticket, from.read(run, flat_target(*grid, task.range),
                                    {.first = task.range.first}, ticket.memory));
  } else {
    const ElementRange places = block_range(task.range.count, piece_elements_, piece);
    const Ticket ticket = engine.take(reader, task.block, places);
    const ElementRange range{task.range.first + places.first, places.count};
    engine.submit(ticket, from.read(range, places.first, ticket.memory));
  }
}

std::vector<StageTiming> BlockSource::timings() const {
  std::vector<StageTiming> timings;
  for (const RegionReader& reader : readers_) append(timings, reader.timings());
  return timings;
}

}  // namespace warpfold::pipeline
