#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

namespace warpfold::io {

/// Tells whether the system keeps an open file in memory: it has to clear pages to reserve them.
bool is_kept_in_memory(int descriptor);

/// A file that its system keeps in memory, written through a mapping: threads copy at once there,
/// where their calls of pwrite() follow one another. A call alone is quicker than a copy, though,
/// for which the system clears and maps each page first.
class MemoryFile {
 public:
  /// Maps the file, of unchanging size, if it is in memory.
  explicit MemoryFile(int descriptor);
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  /// Says that a thread writes, for as long as it lives.
  class Write {
   public:
    explicit Write(MemoryFile& file) : writes_(file.writes_), alone_(writes_.fetch_add(1) == 0) {}
    ~Write() { --writes_; }
    Write(const Write&) = delete;
    Write& operator=(const Write&) = delete;

    /// Tells whether no other thread wrote when this one began: it had better call pwrite().
    bool is_alone() const { return alone_; }

   private:
    std::atomic<int>& writes_;
    bool alone_;
  };

  /// Copies `bytes` to place `first` of the file where that is mapped and the system has pages for
  /// it; returns whether.
  bool copy(std::uint64_t first, std::span<const std::byte> bytes);

 private:
  bool get_pages(std::uint64_t first, std::uint64_t bytes);

  int descriptor_;
  std::atomic<int> writes_ = 0;
  std::mutex reserving_;
  std::span<std::byte> mapped_;
  std::vector<bool> has_pages_;  ///< parts whose pages are reserved
};

}  // namespace warpfold::io
