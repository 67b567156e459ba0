#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#ifdef __linux__
#include <sys/mman.h>
#endif

#include "cpu/machine/aligned_memory.hpp"

namespace warpfold::cpu {

/// Memory that the system provides as it is first touched. Buffers of at least a huge page ask for
/// huge pages: with small ones, address translation bounds the rate of reading. Smaller buffers
/// begin on a page, as reads past the cache need. Throws std::bad_alloc.
class PageBuffer {
 public:
  explicit PageBuffer(std::size_t bytes)
      : bytes_(bytes),
        memory_(static_cast<std::byte*>(
            allocate_aligned(bytes, std::align_val_t{bytes < huge_page ? page : huge_page}))) {
#ifdef __linux__
    // A wish: where it isn't granted, pages stay small.
    if (bytes >= huge_page) madvise(memory_.get(), bytes - bytes % huge_page, MADV_HUGEPAGE);
#endif
  }

  std::span<std::byte> span() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::size_t huge_page = std::size_t{2} << 20;
  static constexpr std::size_t page = 4096;

  struct Release {
    void operator()(std::byte* memory) const { release_aligned(memory); }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Release> memory_;
};

}  // namespace warpfold::cpu
