#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/gpu/gpu_resources.hpp"
#include "bench/ingest/stored_ranges.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "io/files/posix_file.hpp"

/// Reads and copies a file's bytes without HDF5: the upper bound for reading and copying.
namespace warpfold::bench {

/// A file open for reading.
class InputFile {
 public:
  /// Throws Error.
  explicit InputFile(std::string file);

  /// Fills `out` from byte `offset` on; threads may read at once. Throws Error.
  void read(std::uint64_t offset, std::span<std::byte> out) const;

 private:
  std::string file_;
  io::FileDescriptor descriptor_;
};

/// Makes a way to the cores: the buffer is all there is.
std::unique_ptr<Transfer> make_host_transfer(std::uint64_t buffer_bytes);

/// Reads pieces of a file, a thread for each transfer.
class RawRead {
 public:
  /// Throws Error.
  RawRead(const std::string& file, std::vector<io::FileBytes> pieces,
          std::vector<std::unique_ptr<Transfer>> transfers);

  /// Sends every piece through one of the transfers. Throws Error.
  void run();

 private:
  InputFile file_;
  std::vector<io::FileBytes> pieces_;
  std::vector<std::unique_ptr<Transfer>> transfers_;
  cpu::ThreadPool threads_;
};

/// Copies pieces of a file to the same places of another, which exists, and returns once they are
/// on storage. Throws Error.
void copy_pieces(const std::string& from, const std::string& to,
                 const std::vector<io::FileBytes>& pieces, int threads);

/// Returns a number that any change of one of the bytes changes, and most changes of several: the
/// sum of all 8-byte words, each times an odd number of its place after `first`. Sums of parts add
/// up modulo 2^64. Pieces begin a multiple of 8 bytes after `first`. Throws Error.
std::uint64_t digest_of(const std::string& file, std::uint64_t first,
                        const std::vector<io::FileBytes>& pieces, int threads);

}  // namespace warpfold::bench
