#pragma once

#include <cstddef>
#include <new>

namespace warpfold::cpu {

/// Allocates memory with that alignment, a power of 2, at least a pointer's. Throws std::bad_alloc.
/// Requests for equal sizes take freed memory again. std::aligned_alloc of glibc before 2.38
/// doesn't do so (bug 14581), and the heap grows.
void* allocate_aligned(std::size_t bytes, std::align_val_t alignment);

/// Frees what allocate_aligned() gave.
void release_aligned(void* memory) noexcept;

/// Base of classes with members of greater alignment, whose objects come and go with datasets.
struct InAlignedMemory {
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return allocate_aligned(bytes, alignment);
  }
  static void operator delete(void* memory, std::align_val_t) noexcept { release_aligned(memory); }
};

}  // namespace warpfold::cpu
