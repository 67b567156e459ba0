#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/layout/staged_chunks.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_chunks.hpp"

namespace warpfold::cuda {

/// The extents of a slab's elements as they lie in a dataset, and how far apart neighbours along
/// each dimension go.
struct SlabLayout {
  std::vector<std::uint64_t> shape;
  std::vector<std::uint64_t> stride;

  std::uint64_t elements() const {
    std::uint64_t product = 1;
    for (const std::uint64_t extent : shape) product *= extent;
    return product;
  }
};

inline SlabLayout row_major(const std::vector<std::uint64_t>& shape) {
  SlabLayout layout{shape, std::vector<std::uint64_t>(shape.size(), 1)};
  for (std::size_t d = shape.size() - 1; d > 0; --d)
    layout.stride[d - 1] = layout.stride[d] * shape[d];
  return layout;
}

/// The largest slabs of slab_plan().
inline constexpr std::uint64_t max_slab_elements = 1 << 20;

inline StagingPlan slab_plan(ElementFormat format, int threads = 1) {
  return {format, {}, max_slab_elements, 2 * max_slab_elements * 8, Staging::chunks, threads};
}

/// A box of an array; masks and factors go by its elements' indices in the array.
inline const Hyperslab sample_box{{1, 1, 2}, {2, 12, 25}};
inline const std::vector<std::uint64_t> sample_array_shape{5, 17, 40};

/// A slab as chunks.
struct SampleSlab {
  ChunkGrid grid;
  ChunkTarget target;
  SampleChunks sample;

  StagedChunks stage(std::span<std::byte> buffer, const BoxIndices& rows = {}) const {
    std::ranges::copy(sample.staging, buffer.begin());
    return {grid, target, sample.chunks, {}, rows};
  }

  void submit(StreamEngine& engine, int thread = 0, const BoxIndices& rows = {}) const {
    const Ticket ticket = engine.take(thread);
    engine.submit(ticket, stage(ticket.memory, rows));
  }
};

/// Without its chunks.
inline SampleSlab empty_slab(const SlabLayout& layout) {
  SampleSlab slab;
  slab.grid.dimensions = static_cast<int>(layout.shape.size());
  std::ranges::copy(layout.shape, slab.grid.extent);
  std::ranges::copy(layout.shape, slab.grid.chunk_extent);
  std::ranges::copy(layout.stride, slab.target.stride);
  slab.target.elements = layout.elements();
  return slab;
}

/// All in one chunk.
template <class T>
SampleSlab whole_slab(const SlabLayout& layout, const std::vector<T>& elements) {
  SampleSlab slab = empty_slab(layout);
  slab.sample.chunks = {{}};
  slab.sample.staging = bytes_of(elements);
  return slab;
}

/// In chunks of a random shape, staged in every way. Where one is left unwritten its elements
/// become zeros.
template <class T>
SampleSlab chunked_slab(const SlabLayout& layout, std::vector<T>& elements, ByteOrder order,
                        std::mt19937_64& random) {
  SampleSlab slab = empty_slab(layout);
  std::uint64_t chunks = 1;
  for (int d = 0; d < slab.grid.dimensions; ++d) {
    slab.grid.chunk_extent[d] = 1 + random() % std::min<std::uint64_t>(slab.grid.extent[d], 300);
    chunks *= slab.grid.chunks_along(d);
  }
  std::vector<std::byte> bytes = bytes_of(elements, order);
  const std::byte zeros[8] = {};
  slab.sample = sample_chunks(slab.grid, 0, chunks, bytes, sizeof(T), zeros, random);
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  if (order != native_byte_order)
    for (T& element : elements) element = byte_swapped(element);
  return slab;
}

}  // namespace warpfold::cuda
