#include "io/files/coalescing.hpp"

#include <algorithm>

namespace warpfold::io {
namespace {

/// About what a page cache delivers while a call enters the kernel, leaves it and looks up a page.
constexpr std::uint64_t max_read_gap_bytes = 64 << 10;

}  // namespace

void coalesce(std::span<const Wanted> wanted, std::uint64_t max_bytes,
              std::vector<CoalescedRead>& reads) {
  reads.clear();
  for (std::size_t first = 0; first < wanted.size();) {
    FileBytes bytes = wanted[first].bytes;
    std::uint64_t gaps = 0;
    std::size_t end = first + 1;
    for (; end < wanted.size(); ++end) {
      const FileBytes next = wanted[end].bytes;
      const std::uint64_t gap = next.address - std::min(next.address, bytes.end());
      const std::uint64_t bytes_with_next = std::max(bytes.end(), next.end()) - bytes.address;
      if (gap > max_read_gap_bytes || gaps + gap > (bytes_with_next - gaps - gap) / gap_divisor)
        break;
      if (bytes_with_next > max_bytes) break;
      gaps += gap;
      bytes.count = bytes_with_next;
    }
    reads.push_back({bytes, wanted.subspan(first, end - first)});
    first = end;
  }
}

}  // namespace warpfold::io
