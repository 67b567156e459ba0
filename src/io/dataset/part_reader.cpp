#include "io/dataset/part_reader.hpp"

#include <memory>

namespace warpfold::io {
namespace {

/// Stays in a core's own cache between being read and being gathered from.
constexpr std::uint64_t window_bytes = 256 << 10;

}  // namespace

void read_part(const ByteReader& file, const PartLayout& layout, std::span<std::byte> out) {
  std::unique_ptr<std::byte[]> scratch;
  std::byte* to = out.data();
  const auto read = [&](FileBytes window, std::span<const ByteRuns> runs) {
    if (runs.size() == 1 && runs.front().count == 1) {
      file.read(window.address, {to, window.count});
      to += window.count;
      return;
    }
    if (!scratch) scratch = std::make_unique_for_overwrite<std::byte[]>(window_bytes);
    file.read(window.address, {scratch.get(), window.count});
    for (const ByteRuns& each : runs) {
      gather(each, scratch.get() + (each.address - window.address), to);
      to += each.bytes();
    }
  };
  RunWindows(layout, window_bytes).for_each(read);
}

}  // namespace warpfold::io
