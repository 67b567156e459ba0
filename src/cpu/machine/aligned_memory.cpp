#include "cpu/machine/aligned_memory.hpp"

#include <memory>

namespace warpfold::cpu {
namespace {

/// Returns where the address of the whole allocation is kept: right before the memory.
void** origin_of(void* memory) { return static_cast<void**>(memory) - 1; }

}  // namespace

void* allocate_aligned(std::size_t bytes, std::align_val_t alignment) {
  const auto multiple = static_cast<std::size_t>(alignment);
  if (bytes > PTRDIFF_MAX - multiple) throw std::bad_alloc();
  void* const origin = ::operator new(bytes + multiple);
  void* memory = static_cast<std::byte*>(origin) + sizeof(void*);
  std::size_t space = bytes + multiple - sizeof(void*);
  std::align(multiple, bytes, memory, space);
  *origin_of(memory) = origin;
  return memory;
}

void release_aligned(void* memory) noexcept {
  if (memory != nullptr) ::operator delete(*origin_of(memory));
}

}  // namespace warpfold::cpu
