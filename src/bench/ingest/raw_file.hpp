#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/ingest/stored_ranges.hpp"
#include "bench/ingest/transfer_lane.hpp"
#include "cpu/machine/thread_pool.hpp"
#include "io/files/posix_file.hpp"

/// What a file's bytes take without HDF5: what reading and copying can't go beyond.
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

/// Reads pieces of a file, a thread for each lane.
class RawRead {
 public:
  /// Throws Error.
  RawRead(const std::string& file, std::vector<io::FileBytes> pieces,
          std::vector<std::unique_ptr<TransferLane>> lanes);

  /// Sends every piece through one of the lanes. Throws Error.
  void run();

 private:
  InputFile file_;
  std::vector<io::FileBytes> pieces_;
  std::vector<std::unique_ptr<TransferLane>> lanes_;
  cpu::ThreadPool threads_;
};

/// Copies pieces of a file to the same places of another, which exists, and returns once they are
/// on storage. Throws Error.
void copy_pieces(const std::string& from, const std::string& to,
                 const std::vector<io::FileBytes>& pieces, int threads);

}  // namespace warpfold::bench
