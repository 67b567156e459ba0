#include "cuda/staging/chunk_loader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/layout/partition.hpp"
#include "cuda/chunks/chunk_assembly.hpp"
#include "cuda/chunks/chunk_scatter.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t vector_bytes = 16;
constexpr std::uint64_t usual_chunks = 1024;

/// A slab's table: the indices, then the chunks. It lies behind the chunks in the staging buffer,
/// so that one copy takes both; where it has too many for that, in memory of its own.
constexpr std::uint64_t chunks_offset = round_up(sizeof(BoxIndices), alignof(StagedChunk));

constexpr std::uint64_t table_bytes(std::uint64_t chunks) {
  return chunks_offset + chunks * sizeof(StagedChunk);
}

struct ByteRange {
  std::uint64_t begin;
  std::uint64_t end;

  std::uint64_t size() const { return end - begin; }
};

/// Returns what the chunks span in staging memory, widened to whole vectors.
ByteRange staged_range(const StagedChunks& slab, std::uint64_t chunk_bytes) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (const StagedChunk& chunk : slab.chunks) {
    if (chunk.encoding == ChunkEncoding::unwritten) continue;
    begin = std::min(begin, chunk.source);
    end = std::max(end, chunk.source + chunk_bytes);
  }
  if (end == 0) return {0, 0};
  return {begin / vector_bytes * vector_bytes, round_up(end, vector_bytes)};
}

}  // namespace

ChunkLoader::ChunkLoader(std::uint64_t staging_bytes) : staged_(buffer_bytes(staging_bytes)) {}

std::uint64_t ChunkLoader::buffer_bytes(std::uint64_t staging_bytes) {
  return round_up(staging_bytes, vector_bytes) + table_bytes(usual_chunks);
}

void ChunkLoader::copy(StagingBuffer& from, const StagedChunks& slab, const BoxIndices& indices,
                       std::size_t element_bytes, cudaStream_t stream) {
  const ByteRange range = staged_range(slab, slab.grid.chunk_elements() * element_bytes);
  const std::span<std::byte> memory = from.memory();
  const std::uint64_t table = table_bytes(slab.chunks.size());
  const bool fits = table <= memory.size() - range.end;
  std::byte* const host_table = fits ? memory.data() + range.end : from.companion(table);
  std::memcpy(host_table, &indices, sizeof(indices));
  std::memcpy(host_table + chunks_offset, slab.chunks.data(), slab.chunks.size_bytes());
  if (!fits && table > large_table_.size()) large_table_ = DeviceBuffer(2 * table);
  table_ = fits ? staged_.data() + range.end : large_table_.data();

  const std::uint64_t bytes = range.size() + (fits ? table : 0);
  from.begin_copy(stream);
  copy_to_device(staged_.data() + range.begin, memory.data() + range.begin, bytes, stream);
  if (!fits) copy_to_device(table_, host_table, table, stream);
  from.end_copy(stream, range.size());
}

void ChunkLoader::assemble(const StagedChunks& slab, std::size_t element_bytes, std::byte* elements,
                           cudaStream_t stream) const {
  const kernels::ChunkAssembly assembly{
      .grid = slab.grid,
      .target = slab.target,
      .chunks = reinterpret_cast<const StagedChunk*>(table_ + chunks_offset),
      .count = slab.chunks.size(),
      .staged = staged_.data(),
      .elements = elements,
      .element_bytes = element_bytes,
      .fill = std::bit_cast<std::uint64_t>(slab.fill)};
  if (!slab.grid.selective && slab.target.stride[slab.grid.dimensions - 1] == 1)
    kernels::assemble_chunks(assembly, stream);
  else
    kernels::scatter_chunks(assembly, stream);
}

}  // namespace warpfold::cuda
