#include "bench/ingest/stored_ranges.hpp"

#include <algorithm>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/partition.hpp"

namespace warpfold::bench {
namespace {

/// Bytes that a thread reads in the time that one more call takes.
constexpr std::uint64_t cheap_gap = 64 << 10;

void append_pieces(std::vector<io::FileBytes>& pieces, io::FileBytes whole,
                   std::uint64_t piece_bytes) {
  for (std::uint64_t begin = whole.address; begin < whole.end(); begin += piece_bytes)
    pieces.push_back({begin, std::min(piece_bytes, whole.end() - begin)});
}

}  // namespace

std::vector<io::FileBytes> split_into_pieces(io::FileBytes whole, std::uint64_t piece_bytes) {
  std::vector<io::FileBytes> pieces;
  append_pieces(pieces, whole, piece_bytes);
  return pieces;
}

std::vector<io::FileBytes> pieces_of_chunks(const std::vector<io::StoredChunk>& chunks,
                                            std::uint64_t piece_bytes) {
  std::vector<io::FileBytes> written;
  for (const io::StoredChunk& chunk : chunks)
    if (chunk.bytes != 0) written.push_back({chunk.address, chunk.bytes});
  std::sort(written.begin(), written.end(),
            [](const io::FileBytes& a, const io::FileBytes& b) { return a.address < b.address; });
  std::vector<io::FileBytes> pieces;
  io::FileBytes together;
  for (const io::FileBytes& next : written) {
    if (together.count != 0 && next.address > together.end() + cheap_gap) {
      append_pieces(pieces, together, piece_bytes);
      together = {};
    }
    if (together.count == 0) together.address = next.address;
    together.count = next.end() - together.address;
  }
  append_pieces(pieces, together, piece_bytes);
  return pieces;
}

std::vector<io::StoredChunk> chunks_of_rank(const io::DatasetInfo& info, int ranks, int rank) {
  const ChunkGrid grid = io::grid_of(info);
  const ElementRange mine = partition(grid.chunks(), 1, static_cast<std::uint64_t>(ranks),
                                      static_cast<std::uint64_t>(rank));
  return io::read_chunk_index(info, {mine.first, mine.count});
}

std::optional<std::vector<io::FileBytes>> stored_pieces(const io::DatasetInfo& info, int ranks,
                                                        int rank, std::uint64_t piece_bytes) {
  if (info.layout == io::Layout::chunked)
    return pieces_of_chunks(chunks_of_rank(info, ranks, rank), piece_bytes);
  if (!info.file_offset) return std::nullopt;
  const std::uint64_t bytes = info.elements * size_of(info.format.type);
  const ElementRange mine = partition(bytes, piece_bytes, static_cast<std::uint64_t>(ranks),
                                      static_cast<std::uint64_t>(rank));
  return split_into_pieces({*info.file_offset + mine.first, mine.count}, piece_bytes);
}

}  // namespace warpfold::bench
