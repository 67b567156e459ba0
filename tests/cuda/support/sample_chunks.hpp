#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"

namespace warpfold::cuda {

/// Chunks as a reader may leave them, made from the bytes of a dataset's elements in flat order.
struct SampleChunks {
  std::vector<StagedChunk> chunks;
  std::vector<std::byte> staging;
};

/// Visits the elements of chunk `number`: visit(place in the chunk, flat index), the index no_place
/// for those beyond the dataset.
inline constexpr std::uint64_t no_place = ~std::uint64_t{0};

template <class Visitor>
void visit_chunk(const ChunkGrid& grid, std::uint64_t number, Visitor&& visit) {
  std::vector<std::uint64_t> first(static_cast<std::size_t>(grid.dimensions));
  for (int d = grid.dimensions - 1; d >= 0; --d) {
    const std::uint64_t along = (grid.extent[d] + grid.chunk_extent[d] - 1) / grid.chunk_extent[d];
    first[static_cast<std::size_t>(d)] = number % along * grid.chunk_extent[d];
    number /= along;
  }
  std::uint64_t elements = 1;
  for (int d = 0; d < grid.dimensions; ++d) elements *= grid.chunk_extent[d];
  for (std::uint64_t place = 0; place < elements; ++place) {
    std::uint64_t rest = place;
    std::uint64_t stride = 1;
    std::uint64_t index = 0;
    bool inside = true;
    for (int d = grid.dimensions - 1; d >= 0; --d) {
      const std::uint64_t x = first[static_cast<std::size_t>(d)] + rest % grid.chunk_extent[d];
      rest /= grid.chunk_extent[d];
      inside = inside && x < grid.extent[d];
      index += x * stride;
      stride *= grid.extent[d];
    }
    visit(place, inside ? index : no_place);
  }
}

/// Appends chunk `number` to the sample, `gap` bytes behind the last one.
inline void append_chunk(SampleChunks& sample, const ChunkGrid& grid, std::uint64_t number,
                         std::span<const std::byte> dataset, std::size_t element_bytes,
                         ChunkEncoding encoding, std::size_t gap) {
  if (encoding == ChunkEncoding::unwritten) {
    sample.chunks.push_back({number, 0, encoding});
    return;
  }
  std::vector<std::byte> bytes;
  visit_chunk(grid, number, [&](std::uint64_t, std::uint64_t index) {
    for (std::size_t i = 0; i < element_bytes; ++i)
      bytes.push_back(index == no_place ? std::byte{0xee} : dataset[index * element_bytes + i]);
  });
  const std::size_t source = sample.staging.size() + gap;
  sample.chunks.push_back({number, source, encoding});
  sample.staging.resize(source + bytes.size(), std::byte{0xdd});
  const std::size_t elements = bytes.size() / element_bytes;
  for (std::size_t k = 0; k < bytes.size(); ++k) {
    const std::size_t at =
        encoding == ChunkEncoding::shuffled ? k % element_bytes * elements + k / element_bytes : k;
    sample.staging[source + at] = bytes[k];
  }
}

/// The chunks at positions [first, first + count), some of each way, with gaps of any size.
/// Elements of unwritten ones become `fill` in the dataset.
inline SampleChunks sample_chunks(const ChunkGrid& grid, std::uint64_t first, std::uint64_t count,
                                  std::vector<std::byte>& dataset, std::size_t element_bytes,
                                  std::span<const std::byte> fill, std::mt19937_64& random) {
  SampleChunks sample;
  for (std::uint64_t position = first; position < first + count; ++position) {
    const std::uint64_t number = grid.number_at(position);
    const ChunkEncoding encoding = std::array{ChunkEncoding::plain, ChunkEncoding::shuffled,
                                              ChunkEncoding::unwritten}[random() % 5 / 2];
    if (encoding == ChunkEncoding::unwritten) {
      visit_chunk(grid, number, [&](std::uint64_t, std::uint64_t index) {
        if (index != no_place)
          std::copy_n(fill.begin(), element_bytes,
                      dataset.begin() + static_cast<std::ptrdiff_t>(index * element_bytes));
      });
    }
    append_chunk(sample, grid, number, dataset, element_bytes, encoding, random() % 20);
  }
  std::ranges::shuffle(sample.chunks, random);
  return sample;
}

}  // namespace warpfold::cuda
