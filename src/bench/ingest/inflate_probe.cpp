#include "bench/ingest/inflate_probe.hpp"

#include <algorithm>

#include "bench/ingest/raw_file.hpp"
#include "bench/ingest/stored_ranges.hpp"
#include "core/layout/chunk_grid.hpp"
#include "warpfold/core/partition.hpp"

namespace warpfold::bench {
namespace {

/// More than caches hold of the uncompressed bytes, undone in a fraction of a second.
constexpr std::uint64_t wanted_bytes = 64 << 20;

/// Some of the chunks that are written, spread over all of them.
std::vector<io::StoredChunk> spread_sample(std::vector<io::StoredChunk> chunks,
                                           std::uint64_t wanted) {
  std::erase_if(chunks, [](const io::StoredChunk& chunk) { return chunk.bytes == 0; });
  const std::uint64_t step = std::max<std::uint64_t>(1, chunks.size() / wanted);
  std::vector<io::StoredChunk> sample;
  for (std::uint64_t i = 0; i < chunks.size() && sample.size() < wanted; i += step)
    sample.push_back(chunks[i]);
  return sample;
}

}  // namespace

InflateProbe::InflateProbe(const io::DatasetInfo& info, int ranks, int rank, int threads)
    : chunk_bytes_(io::grid_of(info).chunk_elements() * size_of(info.format.type)),
      threads_(threads) {
  const std::uint64_t wanted = std::max<std::uint64_t>(1, wanted_bytes / chunk_bytes_);
  const InputFile file(info.stored_file);
  for (const io::StoredChunk& chunk : spread_sample(chunks_of_rank(info, ranks, rank), wanted)) {
    stored_.push_back({std::vector<std::byte>(chunk.bytes), chunk.skipped_filters});
    file.read(chunk.address, stored_.back().bytes);
  }
  for (int i = 0; i < threads; ++i)
    workers_.push_back({io::ChunkDecoder(info.filters, size_of(info.format.type), chunk_bytes_),
                        std::vector<std::byte>(static_cast<std::size_t>(chunk_bytes_))});
}

void InflateProbe::decode(std::size_t chunk, Worker& worker) const {
  worker.decoder.decode(stored_[chunk].bytes, stored_[chunk].skipped_filters, worker.out,
                        "cannot undo the filters of a chunk");
}

void InflateProbe::run_on_one_core() {
  for (std::size_t chunk = 0; chunk < stored_.size(); ++chunk) decode(chunk, workers_.front());
}

void InflateProbe::run_on_all_threads() {
  threads_.parallel_for(workers_.size() * stored_.size(), [&](std::size_t task, int worker) {
    decode(task % stored_.size(), workers_[static_cast<std::size_t>(worker)]);
  });
}

}  // namespace warpfold::bench
