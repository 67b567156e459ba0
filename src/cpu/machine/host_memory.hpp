#pragma once

#include <cstdint>
#include <filesystem>

namespace warpfold::cpu {

/// Returns the bytes of memory that this process may use: all of the host's, or fewer where Linux
/// control groups limit it, as batch systems and containers have it. `root` has the folders proc
/// and sys.
std::uint64_t usable_memory(const std::filesystem::path& root = "/");

/// Returns the share of usable_memory() / `divisor` that is for so many threads: as many cores'
/// shares, but never more than all.
std::uint64_t memory_of_threads(std::uint64_t divisor, int threads);

}  // namespace warpfold::cpu
