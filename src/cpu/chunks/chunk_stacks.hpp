#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/staged_chunks.hpp"
#include "cpu/chunks/chunk_axes.hpp"

namespace warpfold::cpu {

/// A chunk of a slab and the place at the target of its first element there.
struct PlacedChunk {
  std::uint64_t column = 0;  ///< place modulo the places of a row
  std::uint64_t place = 0;
  const StagedChunk* chunk = nullptr;
};

/// Chunks that bring the same of their elements to the same columns of a target.
struct ChunkStack {
  std::span<const PlacedChunk> chunks;
  ChunkAxes axes;          ///< axes of the first chunk
  std::uint64_t step = 0;  ///< places from the elements of a chunk to those of the next
};

/// Calls body(stack) for stacks of at most `highest` chunks that make up a slab, whose target has
/// rows of `row_places` places. A chunk without is_low(axes) is a stack of its own.
template <class IsLow, class Body>
void for_each_stack(const StagedChunks& slab, std::uint64_t row_places, std::size_t highest,
                    IsLow&& is_low, Body&& body) {
  const auto axes_of = [&](const StagedChunk& chunk) {
    return ChunkAxes(slab.grid, slab.target, chunk.number);
  };
  std::vector<PlacedChunk> chunks;
  for (const StagedChunk& chunk : slab.chunks) {
    const std::uint64_t place = axes_of(chunk).first_target();
    chunks.push_back({place % row_places, place, &chunk});
  }
  std::ranges::stable_sort(chunks, {}, &PlacedChunk::column);
  for (std::size_t first = 0; first < chunks.size();) {
    ChunkStack stack{{}, axes_of(*chunks[first].chunk), 0};
    const auto fits = [&](const PlacedChunk& before, const PlacedChunk& next) {
      const std::uint64_t step = next.place - before.place;
      const bool follows = next.column == before.column && next.place > before.place &&
                           (stack.step == 0 || step == stack.step);
      if (!follows) return false;
      const ChunkAxes axes = axes_of(*next.chunk);
      return axes.alike(stack.axes) && is_low(axes);
    };
    std::size_t end = first + 1;
    const std::size_t limit = is_low(stack.axes) ? std::min(chunks.size(), first + highest) : end;
    for (; end < limit && fits(chunks[end - 1], chunks[end]); ++end)
      stack.step = chunks[end].place - chunks[end - 1].place;
    stack.chunks = std::span(chunks).subspan(first, end - first);
    body(stack);
    first = end;
  }
}

}  // namespace warpfold::cpu
