#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/selection.hpp"
#include "io/files/byte_reader.hpp"
#include "io/files/posix_file.hpp"

namespace warpfold::io {

/// Equally spaced runs of bytes, `step` from the start of one to that of the next.
struct ByteRuns {
  std::uint64_t address = 0;  ///< address of the first
  std::uint64_t count = 0;
  std::uint64_t run_bytes = 0;
  std::uint64_t step = 0;

  std::uint64_t bytes() const { return count * run_bytes; }
  std::uint64_t end() const { return address + (count - 1) * step + run_bytes; }
};

/// Places of the elements of a part of a contiguous array, in row-major order and hence of
/// rising address: dimensions merged where elements of two follow one another.
class PartLayout {
 public:
  /// Lays out `part`, which has at least an element and a slice for each extent of `shape`; the
  /// array starts at byte `address`.
  PartLayout(std::uint64_t address, std::span<const std::uint64_t> shape, std::size_t element_bytes,
             const Selection& part);

  /// Bytes from the first to the last element.
  FileBytes span() const;

  std::uint64_t run_bytes() const { return line_.run_bytes; }

  /// Counts the bytes that are read, with those read along within lines.
  std::uint64_t bytes_to_read() const;

  /// Calls body(ByteRuns) for each line of runs.
  template <class Body>
  void for_each(Body&& body) const {
    std::vector<std::uint64_t> coordinate(outer_.size());
    ByteRuns line = line_;
    while (true) {
      body(line);
      std::size_t d = outer_.size();
      while (d > 0 && ++coordinate[d - 1] == outer_[d - 1].count) {
        --d;
        coordinate[d] = 0;
        line.address -= outer_[d].step * (outer_[d].count - 1);
      }
      if (d == 0) return;
      line.address += outer_[d - 1].step;
    }
  }

 private:
  /// Steps from one line to the next along a dimension.
  struct Step {
    std::uint64_t count = 0;
    std::uint64_t step = 0;
  };

  ByteRuns line_;
  std::vector<Step> outer_;  ///< outermost first
};

/// Gives what reading a part in few calls fetches, runs that lie near one another along with what
/// lies between them.
class RunWindows {
 public:
  /// Makes windows of at most `max_bytes` where they hold more than one run.
  RunWindows(const PartLayout& layout, std::uint64_t max_bytes)
      : layout_(layout), max_bytes_(max_bytes) {}

  /// Calls body(FileBytes, span of ByteRuns) for each window, in order of address.
  template <class Body>
  void for_each(Body&& body) const {
    std::vector<ByteRuns> runs;
    FileBytes window;
    layout_.for_each([&](ByteRuns line) {
      while (line.count > 0) {
        const ByteRuns next = beginning_of(line);
        if (!runs.empty() && !joins(window, next)) {
          body(window, std::span<const ByteRuns>(runs));
          runs.clear();
        }
        if (runs.empty()) window.address = next.address;
        window.count = next.end() - window.address;
        runs.push_back(next);
        line.address += next.count * line.step;
        line.count -= next.count;
      }
    });
    body(window, std::span<const ByteRuns>(runs));
  }

 private:
  ByteRuns beginning_of(const ByteRuns& line) const;
  bool joins(const FileBytes& window, const ByteRuns& next) const;

  const PartLayout& layout_;
  std::uint64_t max_bytes_;
};

/// Copies runs that lie from `from` on, `from` being where the first one begins, to `to`, packed.
void gather(const ByteRuns& runs, const std::byte* from, std::byte* to);

/// Fills `out` with the elements of `layout`, packed, through the cache or past it as `file` does.
/// Threads may read at once. Throws Error.
void read_part(ByteReader& file, const PartLayout& layout, std::span<std::byte> out);

}  // namespace warpfold::io
