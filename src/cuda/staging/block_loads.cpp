#include "cuda/staging/block_loads.hpp"

#include <algorithm>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

int BlockLoads::streams(const BlockEnginePlan& plan, const BlockLayout& layout) {
  return plan.pieces.staging == Staging::chunks ? layout.loaders : plan.pieces.slots();
}

BlockLoads::BlockLoads(const BlockEnginePlan& plan, const BlockLayout& layout,
                       std::uint64_t piece_elements, const TimedEvent& time_origin)
    : element_bytes_(size_of(plan.pieces.format.type)),
      compressed_(plan.pieces.compressed),
      decompresses_(layout.decompresses),
      buffer_bytes_(plan.pieces.staging == Staging::packed   ? 0
                    : plan.pieces.staging == Staging::chunks ? layout.loader.staging_bytes
                                                             : plan.pieces.slot_bytes()) {
  const bool chunks = plan.pieces.staging == Staging::chunks;
  for (int stream = 0; stream < streams(plan, layout); ++stream) {
    load_streams_.push_back(std::make_unique<LoadStream>(time_origin));
    if (chunks) load_streams_.back()->loader.emplace(layout.loader);
  }
  if (decompresses_) ChunkLoader::load_kernels(element_bytes_);
  const std::uint64_t staged_bytes =
      chunks ? ChunkLoader::buffer_bytes(buffer_bytes_, layout.loader.slab_chunks)
             : std::max(buffer_bytes_, piece_elements * element_bytes_);
  for (int reader = 0; reader < plan.pieces.slots(); ++reader)
    readers_.push_back(std::make_unique<StagingBuffers>(2, staged_bytes, time_origin));
}

std::span<std::byte> BlockLoads::buffer(int reader, std::uint64_t elements) {
  const std::uint64_t bytes = buffer_bytes_ == 0 ? elements * element_bytes_ : buffer_bytes_;
  return this->reader(reader).fill().first(bytes);
}

void BlockLoads::load(int reader, int block, LoadTarget& target, const StagedChunks& piece) {
  StagingBuffer& staged = this->reader(reader).take();
  if (decompresses_) {
    LoadStream& load = *load_streams_[static_cast<std::size_t>(block)];
    if (!add(load, staged, piece)) return;
    decompress(load, target.elements());
    return target.note_load(block, load.stream.get());
  }
  with_load_stream(reader, target, [&](LoadStream& load, std::byte* to) {
    if (!load.loader) return copy_run(staged, piece, element_bytes_, to, load.stream.get());
    load.loader->clear();
    load.loader->copy(staged, piece, element_bytes_, load.stream.get());
    load.loader->assemble(0, to, load.stream.get());
  });
}

/// Adds a piece to its block. Returns whether that has all its chunks now.
bool BlockLoads::add(LoadStream& load, StagingBuffer& from, const StagedChunks& piece) {
  const ElementRange block{piece.target.origin, piece.target.elements};
  const std::lock_guard lock(load.mutex);
  load.loader->copy(from, piece, element_bytes_, load.stream.get());
  load.chunks += piece.chunks.size();
  return load.chunks == chunks_overlapping(piece.grid, block).count;
}

void BlockLoads::decompress(LoadStream& load, std::byte* to) {
  const cudaStream_t stream = load.stream.get();
  ChunkLoader& loader = *load.loader;
  if (loader.compressed() > 0) {
    load.decompressing.begin(stream);
    loader.start_decompressing(load_streams_.size() * compressed_.chunks, stream);
    load.decompressing.end(stream, loader.decompressed_bytes());
    loader.finish_decompressing(compressed_, stream);
  }
  for (std::size_t piece = 0; piece < loader.slabs(); ++piece) loader.assemble(piece, to, stream);
  loader.clear();
  load.chunks = 0;
}

std::vector<SpanTimer*> BlockLoads::decompressing_timers() {
  std::vector<SpanTimer*> timers;
  for (const auto& load : load_streams_) timers.push_back(&load->decompressing);
  return timers;
}

void BlockLoads::copy_run(StagingBuffer& from, const StagedChunks& piece, std::size_t element_bytes,
                          std::byte* to, cudaStream_t stream) {
  const std::optional<StagedRun> run = run_of(piece);
  if (!run) throw Error("a piece of a block is no run of elements", "", "");
  const std::uint64_t bytes = run->elements * element_bytes;
  from.begin_copy(stream);
  copy_to_device(to + run->place * element_bytes, from.memory().subspan(run->source, bytes).data(),
                 bytes, stream);
  from.end_copy(stream, bytes);
}

std::vector<SpanTimer*> BlockLoads::timers() const {
  std::vector<SpanTimer*> timers;
  for (const auto& reader : readers_) reader->append_copies(timers);
  return timers;
}

template <class Body>
void BlockLoads::with_load_stream(int reader, LoadTarget& block, Body&& body) {
  const int number = reader % static_cast<int>(load_streams_.size());
  LoadStream& load = *load_streams_[static_cast<std::size_t>(number)];
  const std::lock_guard lock(load.mutex);
  body(load, block.elements());
  block.note_load(number, load.stream.get());
}

}  // namespace warpfold::cuda
