#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "io/chunks/chunk_index.hpp"
#include "io/dataset/dataset.hpp"
#include "io/files/posix_file.hpp"

namespace warpfold::bench {

/// `whole` in pieces of `piece_bytes`, the last of which may be short.
std::vector<io::FileBytes> split_into_pieces(io::FileBytes whole, std::uint64_t piece_bytes);

/// Returns the bytes of `chunks` in the order of the file, in pieces of at most `piece_bytes`: what
/// lies between chunks is taken along where it is cheaper to read than to leave out.
std::vector<io::FileBytes> pieces_of_chunks(const std::vector<io::StoredChunk>& chunks,
                                            std::uint64_t piece_bytes);

/// Lists the chunks of a chunked dataset that are rank `rank`'s of `ranks` to read.
std::vector<io::StoredChunk> chunks_of_rank(const io::DatasetInfo& info, int ranks, int rank);

/// Returns the file's bytes that rank `rank` of `ranks` has to read of a dataset, in pieces of at
/// most `piece_bytes`; nothing where they don't lie in the file or it is not known where. Throws
/// Error.
std::optional<std::vector<io::FileBytes>> stored_pieces(const io::DatasetInfo& info, int ranks,
                                                        int rank, std::uint64_t piece_bytes);

}  // namespace warpfold::bench
