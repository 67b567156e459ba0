#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "io/files/file_cache.hpp"
#include "io/files/posix_file.hpp"
#include "warpfold/core/read_path.hpp"

namespace warpfold::io {

/// A buffer for fetch() holds so many bytes beyond those that are fetched.
inline constexpr std::size_t fetch_slack = 8192;

/// Reads a file's bytes without the HDF5 library; threads may read at once.
class ByteReader {
 public:
  /// `problem` begins every Error. Throws Error.
  ByteReader(std::string path, std::string problem);

  /// Sets how fetch() reads from now on; `automatic` looks at the `bytes` bytes from `first` on.
  /// The cache is used, too, where the file system allows nothing else. No thread may be reading.
  void choose_cache(FileCache cache, std::uint64_t first, std::uint64_t bytes);

  /// Returns whether fetch() may read past the cache.
  bool may_go_past() const { return static_cast<bool>(uncached_); }

  /// Fills `out` from byte `offset` on. Throws Error, also where the file ends before.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

  /// Reads `bytes` bytes from `offset` on into `buffer`, which is aligned to 4096 bytes and larger
  /// by fetch_slack. Returns where in it they lie, as far from a multiple of 4096 as in the file or
  /// at its start. Throws Error.
  std::span<std::byte> fetch(std::uint64_t offset, std::uint64_t bytes,
                             std::span<std::byte> buffer);

 private:
  bool goes_past();
  bool fetch_past(std::uint64_t offset, std::uint64_t bytes, std::span<std::byte> buffer);

  std::string path_;
  std::string problem_;
  FileDescriptor file_;
  FileDescriptor uncached_;  ///< opened with O_DIRECT, or closed
  std::atomic<bool> refused_ = false;
  std::optional<CacheTrial> trial_;
};

}  // namespace warpfold::io
