#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/chunks/chunk_coordinates.hpp"
#include "io/chunks/chunk_index.hpp"

namespace warpfold::io {

/// Returns what the file's index of chunks says of the run of positions in the dataset's grid,
/// unchecked. Throws an Error beginning with `problem`. Call within a LibraryScope.
std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem);

/// A chunk that the index lists; none where it lists one of no bytes, as only those that were never
/// written have, or of more than any chunk has.
std::optional<StoredChunk> listed_chunk(std::uint64_t address, std::uint64_t bytes,
                                        std::uint32_t skipped_filters);

/// Throws an Error on chunk `number`, of which the index says that it has `bytes` bytes.
[[noreturn]] void throw_impossible_size(const ChunkCoordinates& coordinates, std::uint64_t number,
                                        std::uint64_t bytes, const std::string& problem);

}  // namespace warpfold::io
