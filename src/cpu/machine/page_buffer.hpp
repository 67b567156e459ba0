#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <span>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace warpfold::cpu {

/// Memory that the system provides as it is first touched, in huge pages where it has them: without
/// them reading it is bound by address translation. Throws std::bad_alloc.
class PageBuffer {
 public:
  explicit PageBuffer(std::size_t bytes)
      : bytes_(bytes), memory_(static_cast<std::byte*>(::operator new(bytes, huge_page))) {
#ifdef __linux__
    // A wish: where it isn't granted, pages stay small.
    madvise(memory_.get(), bytes - bytes % static_cast<std::size_t>(huge_page), MADV_HUGEPAGE);
#endif
  }

  std::span<std::byte> span() const { return {memory_.get(), bytes_}; }

 private:
  static constexpr std::align_val_t huge_page{std::size_t{2} << 20};

  struct Release {
    void operator()(std::byte* memory) const { ::operator delete(memory, huge_page); }
  };

  std::size_t bytes_;
  std::unique_ptr<std::byte, Release> memory_;
};

}  // namespace warpfold::cpu
