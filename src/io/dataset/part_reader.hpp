#pragma once

#include <cstddef>
#include <span>

#include "io/chunks/byte_runs.hpp"
#include "io/files/byte_reader.hpp"

namespace warpfold::io {

/// Fills `out` with the elements of `layout`, packed. Threads may read at once. Throws Error.
void read_part(const ByteReader& file, const PartLayout& layout, std::span<std::byte> out);

}  // namespace warpfold::io
