#pragma once

#include <sys/resource.h>

#include <cstddef>
#include <optional>

namespace warpfold::io {

/// While it lives, the process gets no more than `bytes` of address space beyond what it has: for a
/// library's call that allocates what a file claims. All threads are bound by it, so the call has
/// to be short. Does nothing where the system does not tell (getrlimit(2), proc(5)).
class MemoryCeiling {
 public:
  explicit MemoryCeiling(std::size_t bytes);
  ~MemoryCeiling();
  MemoryCeiling(const MemoryCeiling&) = delete;
  MemoryCeiling& operator=(const MemoryCeiling&) = delete;

 private:
  std::optional<rlimit> before_;
};

}  // namespace warpfold::io
