#pragma once

#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "core/engine/staging_plan.hpp"
#include "core/layout/chunk_grid.hpp"
#include "core/layout/tiling.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_chunks.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

/// Slabs as readers bring them, their chunks compressed but for some.
struct CompressedSlabs {
  static constexpr ElementFormat format{ElementType::f32, native_byte_order};
  static constexpr int threads = 3;

  ChunkGrid grid =
      chunk_grid(std::vector<std::uint64_t>{211, 190}, std::vector<std::uint64_t>{16, 33});
  std::vector<std::byte> elements;
  Tiling boxes;
  std::vector<SampleChunks> slabs;
  std::map<std::uint64_t, std::vector<std::byte>> decompressed;  ///< chunks, by number

  explicit CompressedSlabs(std::uint64_t slab_chunks) : boxes(tile_chunks(grid, slab_chunks)) {
    std::mt19937_64 random(slab_chunks);
    std::vector<float> values(211 * 190);
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = std::round(100.0F * std::sin(static_cast<float>(i) * 0.01F)) / 8.0F +
                  (random() % 50 == 0 ? 1e20F : 0.0F);
    elements = bytes_of(values);
    for (std::uint64_t box = 0; box < boxes.items(); ++box) {
      const ChunkRun run = chunks_of(boxes, {box, 1});
      const std::vector<std::byte> fill(sizeof(float));
      slabs.push_back(compressed(
          sample_chunks(grid, run.first, run.count, elements, sizeof(float), fill, random),
          random));
    }
  }

  std::uint64_t chunk_bytes() const { return grid.chunk_elements() * sizeof(float); }

  StagingPlan plan() const {
    StagingPlan plan{format, {}, max_elements_of(boxes, grid), 0, Staging::chunks, threads};
    plan.slots_per_thread = 2;
    for (const SampleChunks& slab : slabs)
      plan.staging_bytes = std::max<std::uint64_t>(plan.staging_bytes, slab.staging.size());
    plan.compressed = {.chunks = grid.chunks(),
                       .slab_chunks = boxes.max_places(),
                       .form = {.chunk_bytes = chunk_bytes()},
                       .staging_bytes = plan.staging_bytes,
                       .decode = [](std::uint64_t number, std::span<std::byte>) {
                         throw Error("chunk " + std::to_string(number) + " is refused", "", "");
                       }};
    return plan;
  }

 private:
  SampleChunks compressed(const SampleChunks& plain, std::mt19937_64& random) {
    SampleChunks slab;
    for (StagedChunk chunk : plain.chunks) {
      if (chunk.encoding != ChunkEncoding::unwritten) {
        const auto first = plain.staging.begin() + static_cast<std::ptrdiff_t>(chunk.source);
        std::vector<std::byte> bytes(first, first + static_cast<std::ptrdiff_t>(chunk_bytes()));
        decompressed[chunk.number] = bytes;
        if (random() % 6 != 0) {
          uLongf size = compressBound(bytes.size());
          std::vector<std::byte> stream(size);
          compress2(reinterpret_cast<Bytef*>(stream.data()), &size,
                    reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                    static_cast<int>(random() % 10));
          stream.resize(size);
          chunk.compressed_bytes = static_cast<std::uint32_t>(size);
          bytes = stream;
        }
        slab.staging.resize(slab.staging.size() + random() % 20, std::byte{0xdd});
        chunk.source = slab.staging.size();
        slab.staging.insert(slab.staging.end(), bytes.begin(), bytes.end());
      }
      slab.chunks.push_back(chunk);
    }
    return slab;
  }
};

}  // namespace warpfold::cuda
