#include "io/files/memory_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <cstring>

namespace warpfold::io {
namespace {

bool is_in_memory(int descriptor) {
#ifdef __linux__
  struct statfs status {};
  return ::fstatfs(descriptor, &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
#else
  static_cast<void>(descriptor);
  return false;
#endif
}

/// Returns the file's size if all its pages are allocated, else 0.
std::size_t allocated_bytes(int descriptor) {
  constexpr off_t block_bytes = 512;  // of st_blocks, whatever the file system's are
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return 0;
  return status.st_blocks * block_bytes >= status.st_size ? static_cast<std::size_t>(status.st_size)
                                                          : 0;
}

}  // namespace

MemoryFile::MemoryFile(int descriptor) {
  const std::size_t bytes = is_in_memory(descriptor) ? allocated_bytes(descriptor) : 0;
  if (bytes == 0) return;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory != MAP_FAILED) mapped_ = {static_cast<std::byte*>(memory), bytes};
}

MemoryFile::~MemoryFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

bool MemoryFile::copy(std::uint64_t first, std::span<const std::byte> bytes) const {
  if (first > mapped_.size() || bytes.size() > mapped_.size() - first) return false;
  std::memcpy(mapped_.data() + first, bytes.data(), bytes.size());
  return true;
}

}  // namespace warpfold::io
