#include "io/hdf5/memory_ceiling.hpp"

#include <unistd.h>

#include <cstdint>
#include <fstream>

namespace warpfold::io {
namespace {

/// 0: unknown.
std::uint64_t address_space_in_use() {
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

MemoryCeiling::MemoryCeiling(std::size_t bytes) {
  const std::uint64_t used = address_space_in_use();
  rlimit now{};
  if (used == 0 || ::getrlimit(RLIMIT_AS, &now) != 0) return;
  const rlimit lower{used + bytes, now.rlim_max};
  if (lower.rlim_cur >= now.rlim_cur) return;
  if (::setrlimit(RLIMIT_AS, &lower) == 0) before_ = now;
}

MemoryCeiling::~MemoryCeiling() {
  if (before_) ::setrlimit(RLIMIT_AS, &*before_);
}

}  // namespace warpfold::io
