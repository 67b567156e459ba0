#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "cpu/machine/thread_pool.hpp"
#include "io/chunks/chunk_decoder.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::bench {

/// Undoes filters of a sample of a dataset's own chunks from memory into memory, again and again:
/// what a pool of threads that only does that can't go beyond.
class InflateProbe {
 public:
  /// Reads the sample, from rank `rank`'s part of the chunks. Throws Error.
  InflateProbe(const io::DatasetInfo& info, int ranks, int rank, int threads);

  /// Without filters; 0 where no chunk is written.
  std::uint64_t sample_bytes() const { return stored_.size() * chunk_bytes_; }

  /// The first thread alone undoes the sample once. Throws Error.
  void run_on_one_core();

  /// Every thread undoes the sample once, all at the same time. Throws Error.
  void run_on_all_threads();

 private:
  struct Chunk {
    std::vector<std::byte> bytes;
    std::uint32_t skipped_filters;
  };

  struct Worker {
    io::ChunkDecoder decoder;
    std::vector<std::byte> out;
  };

  void decode(std::size_t chunk, Worker& worker) const;

  std::uint64_t chunk_bytes_;
  std::vector<Chunk> stored_;
  std::vector<Worker> workers_;
  cpu::ThreadPool threads_;
};

}  // namespace warpfold::bench
