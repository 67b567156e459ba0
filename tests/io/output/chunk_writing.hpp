#pragma once

#include <cstdint>

#include "io/output/output.hpp"

namespace warpfold::io {

/// Allocates a chunk and writes it there.
inline void write_chunk(StagedFile& staged, std::uint64_t number, const EncodedChunk& chunk) {
  ContiguousWriter writer(staged.temporary_path(), 0);
  writer.write(staged.allocate_chunk(number, ChunkSize(chunk)), chunk.bytes);
}

}  // namespace warpfold::io
