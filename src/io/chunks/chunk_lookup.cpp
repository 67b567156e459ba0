#include "io/chunks/chunk_lookup.hpp"

#include <limits>

#include "warpfold/core/error.hpp"

namespace warpfold::io {

std::optional<StoredChunk> listed_chunk(std::uint64_t address, std::uint64_t bytes,
                                        std::uint32_t skipped_filters) {
  if (bytes == 0 || bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return StoredChunk{address, static_cast<std::uint32_t>(bytes), skipped_filters};
}

void throw_impossible_size(const ChunkCoordinates& coordinates, std::uint64_t number,
                           std::uint64_t bytes, const std::string& problem) {
  throw Error(
      problem,
      coordinates.name(number) + " has " + std::to_string(bytes) + " bytes by the file's index",
      "Copy the file again, or check whether its writer was interrupted.");
}

}  // namespace warpfold::io
