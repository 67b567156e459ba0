#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "io/files/posix_file.hpp"

namespace warpfold::io {

/// Bytes wanted of a file, and whose they are.
struct Wanted {
  FileBytes bytes;
  std::size_t owner = 0;
};

/// One read for neighbours in the file: the bytes it fetches, and whose they are.
struct CoalescedRead {
  FileBytes bytes;
  std::span<const Wanted> parts;
};

/// Reads fetch at most an eighth of the wanted bytes on top of them.
inline constexpr std::uint64_t gap_divisor = 8;

/// Covers `wanted`, in ascending order of address, with reads. What lies between neighbours is read
/// along where that is quicker than another call and no more than an eighth of what is wanted. A
/// read of several has at most `max_bytes`.
void coalesce(std::span<const Wanted> wanted, std::uint64_t max_bytes,
              std::vector<CoalescedRead>& reads);

}  // namespace warpfold::io
