#include "io/files/memory_file.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#ifdef __linux__
#include <linux/magic.h>
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <cstring>

#include "core/layout/partition.hpp"
#include "io/files/posix_file.hpp"

namespace warpfold::io {
namespace {

/// Bytes of pages that are asked for together.
constexpr std::uint64_t part_bytes = std::uint64_t{4} << 20;

/// Spares copies their faults, where the system has such a call.
void map_pages(std::span<std::byte> part) {
#ifdef MADV_POPULATE_WRITE
  ::madvise(part.data(), part.size(), MADV_POPULATE_WRITE);
#else
  static_cast<void>(part);
#endif
}

}  // namespace

bool is_kept_in_memory(int descriptor) {
#ifdef __linux__
  struct statfs status {};
  return ::fstatfs(descriptor, &status) == 0 &&
         (status.f_type == TMPFS_MAGIC || status.f_type == RAMFS_MAGIC);
#else
  static_cast<void>(descriptor);
  return false;
#endif
}

MemoryFile::MemoryFile(int descriptor) : descriptor_(descriptor) {
  struct stat status {};
  if (!is_kept_in_memory(descriptor) || ::fstat(descriptor, &status) != 0) return;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  if (bytes == 0) return;
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return;
  mapped_ = {static_cast<std::byte*>(memory), bytes};
  has_pages_.resize(ceil_div(bytes, part_bytes));
}

MemoryFile::~MemoryFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

bool MemoryFile::copy(std::uint64_t first, std::span<const std::byte> bytes) {
  if (first > mapped_.size() || bytes.size() > mapped_.size() - first) return false;
  if (!get_pages(first, bytes.size())) return false;
  std::memcpy(mapped_.data() + first, bytes.data(), bytes.size());
  return true;
}

/// Touching a page that is not there could end the process where no memory is left.
bool MemoryFile::get_pages(std::uint64_t first, std::uint64_t bytes) {
  std::uint64_t part = first / part_bytes;
  std::uint64_t end = ceil_div(first + bytes, part_bytes);
  std::unique_lock one_at_a_time(reserving_);
  while (part < end && has_pages_[part]) ++part;
  while (part < end && has_pages_[end - 1]) --end;
  if (part == end) return true;
  const std::uint64_t address = part * part_bytes;
  const std::uint64_t count = std::min<std::uint64_t>(end * part_bytes, mapped_.size()) - address;
  if (reserve_bytes(descriptor_, {address, count}) != 0) return false;
  while (part < end) has_pages_[part++] = true;
  one_at_a_time.unlock();
  map_pages(mapped_.subspan(address, count));
  return true;
}

}  // namespace warpfold::io
