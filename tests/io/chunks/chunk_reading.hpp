#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "io/chunks/chunk_source.hpp"

namespace warpfold::io {

/// The bytes of a staged chunk of `elements` elements in their order.
inline std::vector<std::byte> chunk_elements(const StagedChunk& chunk,
                                             std::span<const std::byte> staging,
                                             const DatasetInfo& info, std::size_t elements) {
  const std::size_t size = size_of(info.format.type);
  std::vector<std::byte> bytes(elements * size);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const std::size_t element = i / size;
    const std::size_t byte = i % size;
    const bool shuffled = chunk.encoding == ChunkEncoding::shuffled;
    if (chunk.encoding == ChunkEncoding::unwritten) {
      bytes[i] = info.fill[byte];
    } else {
      bytes[i] = staging[chunk.source + (shuffled ? byte * elements + element : i)];
    }
  }
  return bytes;
}

/// Puts a chunk's elements where they belong in the dataset, one by one.
inline void place_chunk(const DatasetInfo& info, std::uint64_t number,
                        std::span<const std::byte> chunk, std::span<std::byte> dataset) {
  const std::size_t size = size_of(info.format.type);
  for (std::uint64_t i = 0; i < chunk.size() / size; ++i) {
    std::uint64_t index = 0;
    std::uint64_t stride = 1;
    std::uint64_t grid_left = number;
    std::uint64_t chunk_left = i;
    bool inside = true;
    for (std::size_t d = info.shape.size(); d-- > 0;) {
      const std::uint64_t along = (info.shape[d] + info.chunk_shape[d] - 1) / info.chunk_shape[d];
      const std::uint64_t at =
          grid_left % along * info.chunk_shape[d] + chunk_left % info.chunk_shape[d];
      inside = inside && at < info.shape[d];
      index += at * stride;
      stride *= info.shape[d];
      grid_left /= along;
      chunk_left /= info.chunk_shape[d];
    }
    if (inside) std::memcpy(&dataset[index * size], &chunk[i * size], size);
  }
}

/// All elements of a chunked dataset, read in runs of `chunks_at_once` chunks.
inline std::vector<std::byte> read_by_chunks(const DatasetInfo& info,
                                             std::uint64_t chunks_at_once) {
  std::uint64_t chunks = 1;
  std::uint64_t elements = 1;
  for (std::size_t d = 0; d < info.shape.size(); ++d) {
    chunks *= (info.shape[d] + info.chunk_shape[d] - 1) / info.chunk_shape[d];
    elements *= info.chunk_shape[d];
  }
  const ChunkSource source(info, {0, chunks});
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(chunks_at_once));
  std::vector<std::byte> dataset(info.elements * size_of(info.format.type));
  for (std::uint64_t first = 0; first < chunks; first += chunks_at_once) {
    const ChunkRun run{first, std::min(chunks_at_once, chunks - first)};
    for (const StagedChunk& chunk : reader.read(run, staging)) {
      place_chunk(info, chunk.number, chunk_elements(chunk, staging, info, elements), dataset);
    }
  }
  return dataset;
}

/// All elements by the HDF5 library.
inline std::vector<std::byte> read_by_library(const DatasetInfo& info) {
  Dataset dataset(info.file, info.name, ReadPath::library);
  std::vector<std::byte> bytes(info.elements * size_of(info.format.type));
  dataset.read({0, info.elements}, bytes);
  return bytes;
}

}  // namespace warpfold::io
