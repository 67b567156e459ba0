#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace warpfold::io {

/// A file that its system keeps in memory, written through a mapping: threads copy at once there,
/// where their calls of pwrite() follow one another. A call alone is quicker than a copy, though,
/// for which the system maps each page first.
class MemoryFile {
 public:
  /// Maps the file, of unchanging size, if it is in memory and all its pages are there: touching
  /// others could end the process where no memory is left.
  explicit MemoryFile(int descriptor);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Returns the right to call pwrite(), which at most one thread has.
  std::unique_lock<std::mutex> try_turn() { return std::unique_lock(turn_, std::try_to_lock); }

  /// Copies `bytes` to place `first` of the file where that is mapped; returns whether.
  bool copy(std::uint64_t first, std::span<const std::byte> bytes) const;

 private:
  std::span<std::byte> mapped_;
  std::mutex turn_;
};

}  // namespace warpfold::io
