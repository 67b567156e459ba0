#include "cuda/staging/chunk_loader.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "core/layout/partition.hpp"
#include "cuda/chunks/chunk_scatter.hpp"
#include "warpfold/core/error.hpp"

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
    end = std::max(
        end, chunk.source + (chunk.compressed_bytes != 0 ? chunk.compressed_bytes : chunk_bytes));
  }
  if (end == 0) return {0, 0};
  return {begin / vector_bytes * vector_bytes, round_up(end, vector_bytes)};
}

std::uint64_t compressed_chunks(const StagedChunks& slab) {
  return static_cast<std::uint64_t>(std::ranges::count_if(
      slab.chunks, [](const StagedChunk& chunk) { return chunk.compressed_bytes != 0; }));
}

}  // namespace

ChunkLoader::Parts ChunkLoader::cut(Scratch& memory, const LoaderSize& size) {
  return {memory.take<std::byte>(size.slabs * buffer_bytes(size.staging_bytes, size.slab_chunks)),
          memory.take<std::byte>(size.compressed * round_up(size.form.chunk_bytes, vector_bytes))};
}

std::uint64_t ChunkLoader::buffer_bytes(std::uint64_t staging_bytes, std::uint64_t slab_chunks) {
  return round_up(staging_bytes, vector_bytes) +
         round_up(table_bytes(std::max(usual_chunks, slab_chunks)), vector_bytes);
}

std::uint64_t ChunkLoader::device_bytes(const LoaderSize& size) {
  Scratch counter;
  cut(counter, size);
  return counter.bytes() +
         (size.compressed > 0 ? decompressor_bytes(size.form, size.compressed) : 0);
}

ChunkLoader::ChunkLoader(const LoaderSize& size) : size_(size) {
  Scratch counter;
  cut(counter, size);
  memory_ = DeviceBuffer(counter.bytes());
  Scratch scratch(memory_.data());
  parts_ = cut(scratch, size);
  if (size.compressed > 0) decompressor_ = make_decompressor(size.form, size.compressed);
}

void ChunkLoader::load_kernels(std::size_t element_bytes) {
  kernels::load_assembly(element_bytes);
  kernels::load_scatter(element_bytes);
}

void ChunkLoader::clear() {
  used_ = 0;
  large_tables_used_ = 0;
  slabs_.clear();
  compressed_.clear();
  if (decompressor_) decompressor_->clear();
}

std::byte* ChunkLoader::large_table(std::uint64_t bytes) {
  if (large_tables_used_ == large_tables_.size()) large_tables_.emplace_back();
  DeviceBuffer& table = large_tables_[large_tables_used_++];
  if (table.size() < bytes) table = DeviceBuffer(2 * bytes);
  return table.data();
}

std::byte* ChunkLoader::place_of(std::size_t compressed) const {
  return parts_.decompressed + compressed * round_up(size_.form.chunk_bytes, vector_bytes);
}

/// Notes a chunk whose bytes will be at `staged`; returns where it is to come.
std::byte* ChunkLoader::leave_compressed(const StagedChunk& chunk, const std::byte* staged) {
  std::byte* const place = place_of(compressed_.size());
  compressed_.push_back(chunk.number);
  decompressor_->add(staged, chunk.compressed_bytes, place);
  return place;
}

void ChunkLoader::copy(StagingBuffer& from, const StagedChunks& slab, std::size_t element_bytes,
                       cudaStream_t stream) {
  if (!has_room() || compressed_.size() + compressed_chunks(slab) > size_.compressed)
    throw Error("a slab of " + std::to_string(slab.chunks.size()) + " chunks is too much",
                std::to_string(size_.slabs) + " slabs and " + std::to_string(size_.compressed) +
                    " compressed chunks were planned",
                "");
  const ByteRange range = staged_range(slab, slab.grid.chunk_elements() * element_bytes);
  const std::span<std::byte> memory = from.memory();
  const std::uint64_t table = table_bytes(slab.chunks.size());
  const bool is_together = table <= memory.size() - range.end;
  std::byte* const host_table = is_together ? memory.data() + range.end : from.companion(table);
  std::byte* const staged = parts_.staged + used_;
  std::byte* const device_table = is_together ? staged + range.size() : large_table(table);

  const BoxIndices& indices = slab.indices_of_extrema();
  std::memcpy(host_table, &indices, sizeof(indices));
  auto* const chunks = reinterpret_cast<StagedChunk*>(host_table + chunks_offset);
  std::ranges::transform(slab.chunks, chunks, [&](StagedChunk chunk) {
    const std::byte* at = staged + (chunk.source - range.begin);
    if (chunk.compressed_bytes != 0) at = leave_compressed(chunk, at);
    chunk.source = static_cast<std::uint64_t>(at - parts_.staged);
    return chunk;
  });
  slabs_.push_back({{.grid = slab.grid,
                     .target = slab.target,
                     .chunks = reinterpret_cast<const StagedChunk*>(device_table + chunks_offset),
                     .count = slab.chunks.size(),
                     .staged = parts_.staged,
                     .elements = nullptr,
                     .element_bytes = element_bytes,
                     .fill = std::bit_cast<std::uint64_t>(slab.fill)},
                    reinterpret_cast<const BoxIndices*>(device_table)});

  const std::uint64_t bytes = range.size() + (is_together ? table : 0);
  from.begin_copy(stream);
  copy_to_device(staged, memory.data() + range.begin, bytes, stream);
  if (!is_together) copy_to_device(device_table, host_table, table, stream);
  from.end_copy(stream, range.size());
  used_ += round_up(bytes, vector_bytes);
}

void ChunkLoader::start_decompressing(std::uint64_t in_flight, cudaStream_t stream) {
  decompressor_->start(in_flight, stream);
  decompressed_.record(stream);
}

void ChunkLoader::finish_decompressing(const CompressedChunks& plan, cudaStream_t stream) {
  decompressed_.wait();
  std::vector<std::byte> decoded;
  for (const std::size_t chunk : decompressor_->refused(stream)) {
    decoded.resize(plan.form.chunk_bytes);
    plan.decode(compressed_[chunk], decoded);
    copy_to_device(place_of(chunk), decoded.data(), decoded.size(), stream);
    synchronize(stream);
  }
}

void ChunkLoader::assemble(std::size_t slab, std::byte* elements, cudaStream_t stream) const {
  kernels::ChunkAssembly assembly = slabs_[slab].assembly;
  assembly.elements = elements;
  const ChunkGrid& grid = assembly.grid;
  if (!grid.selective && assembly.target.stride[grid.dimensions - 1] == 1)
    kernels::assemble_chunks(assembly, stream);
  else
    kernels::scatter_chunks(assembly, stream);
}

}  // namespace warpfold::cuda
