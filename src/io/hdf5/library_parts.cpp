#include "io/hdf5/library_parts.hpp"

#include <algorithm>
#include <cstddef>

namespace warpfold::io {
namespace {

std::uint64_t chunks_of(const Slice& slice, std::uint64_t chunk_extent) {
  const std::uint64_t last = slice.start + (slice.count - 1) * slice.step;
  return std::min(slice.count, last / chunk_extent - slice.start / chunk_extent + 1);
}

/// At most the number of elements, so that it can be counted.
std::uint64_t chunks_of(const Selection& part, std::span<const std::uint64_t> chunk_shape) {
  std::uint64_t chunks = 1;
  for (std::size_t d = 0; d < part.size(); ++d) chunks *= chunks_of(part[d], chunk_shape[d]);
  return chunks;
}

/// How many of a slice's indices come into the first half: up to the middle one's chunk where that
/// begins behind the slice's first index.
std::uint64_t first_half(const Slice& slice, std::uint64_t chunk_extent) {
  const std::uint64_t half = slice.count / 2;
  const std::uint64_t chunk_begin = (slice.start + half * slice.step) / chunk_extent * chunk_extent;
  if (chunk_begin <= slice.start) return half;
  return (chunk_begin - slice.start + slice.step - 1) / slice.step;
}

void append_cut(const Selection& part, std::span<const std::uint64_t> chunk_shape,
                std::uint64_t max_chunks, std::vector<Selection>& pieces) {
  const auto divided = std::ranges::find_if(part, [](const Slice& s) { return s.count > 1; });
  if (divided == part.end() || chunks_of(part, chunk_shape) <= max_chunks) {
    pieces.push_back(part);
    return;
  }
  const auto d = static_cast<std::size_t>(divided - part.begin());
  const std::uint64_t count = first_half(part[d], chunk_shape[d]);
  Selection half = part;
  half[d].count = count;
  append_cut(half, chunk_shape, max_chunks, pieces);
  half[d].start += count * half[d].step;
  half[d].count = part[d].count - count;
  append_cut(half, chunk_shape, max_chunks, pieces);
}

}  // namespace

std::vector<Selection> cut_by_chunks(const Selection& part,
                                     std::span<const std::uint64_t> chunk_shape,
                                     std::uint64_t max_chunks) {
  std::vector<Selection> pieces;
  append_cut(part, chunk_shape, max_chunks, pieces);
  return pieces;
}

}  // namespace warpfold::io
