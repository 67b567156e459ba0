#include "io/files/byte_runs.hpp"

#include <algorithm>
#include <cstring>
#include <memory>

namespace warpfold::io {
namespace {

/// Read along, as that is quicker than another call, and a file system's cache fetches pages and
/// those that follow them anyway.
constexpr std::uint64_t max_gap_bytes = 16 << 10;

/// Read to where they belong, as copying them costs more than a call.
constexpr std::uint64_t long_run_bytes = 64 << 10;

/// Returns whether runs are read to where they belong, one by one.
bool stands_alone(const ByteRuns& line) {
  return line.run_bytes >= long_run_bytes || line.step - line.run_bytes > max_gap_bytes;
}

template <std::size_t run_bytes>
void gather_short(const ByteRuns& runs, const std::byte* from, std::byte* to) {
  for (std::uint64_t i = 0; i < runs.count; ++i)
    std::memcpy(to + i * run_bytes, from + i * runs.step, run_bytes);
}

/// Stays in a core's own cache between being read and being gathered from.
constexpr std::uint64_t window_bytes = 256 << 10;

/// The memory of a window is aligned as reads past the cache want it, and taken at the first use.
class WindowMemory {
 public:
  std::span<std::byte> get() {
    constexpr std::size_t page = 4096;
    std::size_t room = window_bytes + fetch_slack + page;
    if (!memory_) memory_ = std::make_unique_for_overwrite<std::byte[]>(room);
    void* begin = memory_.get();
    std::align(page, window_bytes + fetch_slack, begin, room);
    return {static_cast<std::byte*>(begin), room};
  }

 private:
  std::unique_ptr<std::byte[]> memory_;
};

}  // namespace

PartLayout::PartLayout(std::uint64_t address, std::span<const std::uint64_t> shape,
                       std::size_t element_bytes, const Selection& part)
    : line_{address, 1, element_bytes, element_bytes} {
  std::uint64_t stride = element_bytes;
  // From the innermost dimension outwards.
  for (std::size_t d = part.size(); d-- > 0;) {
    const auto& [start, count, step, dropped] = part[d];
    const Step here{count, step * stride};
    line_.address += start * stride;
    stride *= shape[d];
    if (count == 1) continue;
    if (line_.count == 1 && here.step == line_.run_bytes) {
      line_.run_bytes *= count;
    } else if (line_.count == 1) {
      line_.count = count;
      line_.step = here.step;
    } else if (outer_.empty() && here.step == line_.count * line_.step) {
      line_.count *= count;
    } else {
      outer_.push_back(here);
    }
  }
  std::ranges::reverse(outer_);
}

FileBytes PartLayout::span() const {
  std::uint64_t end = line_.end();
  for (const Step& each : outer_) end += each.step * (each.count - 1);
  return {line_.address, end - line_.address};
}

std::uint64_t PartLayout::bytes_to_read() const {
  std::uint64_t lines = 1;
  for (const Step& each : outer_) lines *= each.count;
  return lines * (stands_alone(line_) ? line_.bytes() : line_.end() - line_.address);
}

ByteRuns RunWindows::beginning_of(const ByteRuns& line) const {
  ByteRuns runs = line;
  const bool alone = stands_alone(line) || line.run_bytes >= max_bytes_;
  runs.count = alone ? 1 : std::min(line.count, (max_bytes_ - line.run_bytes) / line.step + 1);
  return runs;
}

bool RunWindows::joins(const FileBytes& window, const ByteRuns& next) const {
  return next.run_bytes < long_run_bytes && next.address - window.end() <= max_gap_bytes &&
         next.end() - window.address <= max_bytes_;
}

void gather(const ByteRuns& runs, const std::byte* from, std::byte* to) {
  switch (runs.run_bytes) {
    case 1:
      return gather_short<1>(runs, from, to);
    case 2:
      return gather_short<2>(runs, from, to);
    case 4:
      return gather_short<4>(runs, from, to);
    case 8:
      return gather_short<8>(runs, from, to);
    default:
      for (std::uint64_t i = 0; i < runs.count; ++i)
        std::memcpy(to + i * runs.run_bytes, from + i * runs.step, runs.run_bytes);
  }
}

void read_part(ByteReader& file, const PartLayout& layout, std::span<std::byte> out) {
  WindowMemory memory;
  std::byte* to = out.data();
  const auto fetch = [&](FileBytes window) {
    return file.fetch(window.address, window.count, memory.get()).data();
  };
  const auto read_run = [&](FileBytes run) {
    for (std::uint64_t done = 0; done < run.count; done += window_bytes) {
      const FileBytes part{run.address + done, std::min(window_bytes, run.count - done)};
      to = std::copy_n(fetch(part), part.count, to);
    }
  };
  const auto read = [&](FileBytes window, std::span<const ByteRuns> runs) {
    const bool one_run = runs.size() == 1 && runs.front().count == 1;
    if (one_run && file.may_go_past()) return read_run(window);
    if (one_run) {
      file.read(window.address, {to, window.count});
      to += window.count;
      return;
    }
    const std::byte* const from = fetch(window);
    for (const ByteRuns& each : runs) {
      gather(each, from + (each.address - window.address), to);
      to += each.bytes();
    }
  };
  RunWindows(layout, window_bytes).for_each(read);
}

}  // namespace warpfold::io
