#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/ingest/stored_ranges.hpp"

namespace warpfold::bench {

/// A number that any change of one of the bytes changes, and most changes of several: the sum of
/// all 8-byte words, each times an odd number of its place after `first`. Sums of parts add up
/// modulo 2^64. Pieces begin a multiple of 8 bytes after `first`. Throws Error.
std::uint64_t digest_of(const std::string& file, std::uint64_t first,
                        const std::vector<io::FileBytes>& pieces, int threads);

}  // namespace warpfold::bench
