#include "cpu/machine/page_buffer.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace warpfold::cpu {

PageBuffer::PageBuffer(std::size_t bytes)
    : bytes_(bytes), memory_(static_cast<std::byte*>(::operator new(bytes, huge_page))) {
#ifdef __linux__
  // A wish: where it isn't granted, pages stay small.
  const std::size_t whole_pages = bytes / static_cast<std::size_t>(huge_page);
  madvise(memory_.get(), whole_pages * static_cast<std::size_t>(huge_page), MADV_HUGEPAGE);
#endif
}

}  // namespace warpfold::cpu
