#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/chunk_index.hpp"
#include "io/dataset.hpp"

namespace warpfold::bench {

/// Consecutive bytes of a file.
struct ByteRange {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;

  std::uint64_t end() const { return offset + bytes; }
  bool operator==(const ByteRange&) const = default;
};

/// `whole` in pieces of `piece_bytes`, the last of which may be short.
std::vector<ByteRange> cut_into_pieces(ByteRange whole, std::uint64_t piece_bytes);

/// The bytes of `chunks` in the order of the file, in pieces of at most `piece_bytes`: what lies
/// between chunks is taken along where it is cheaper to read than to leave out.
std::vector<ByteRange> pieces_of_chunks(const std::vector<io::StoredChunk>& chunks,
                                        std::uint64_t piece_bytes);

/// Those chunks of a chunked dataset that are rank `rank`'s of `ranks` to read.
std::vector<io::StoredChunk> chunks_of_rank(const io::DatasetInfo& info, int ranks, int rank);

/// The file's bytes that rank `rank` of `ranks` has to read of a dataset, in pieces of at most
/// `piece_bytes`; nothing where they don't lie in the file or it is not known where. Throws Error.
std::optional<std::vector<ByteRange>> stored_pieces(const io::DatasetInfo& info, int ranks,
                                                    int rank, std::uint64_t piece_bytes);

}  // namespace warpfold::bench
