#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "core/layout/tiling.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/output/chunk_packer.hpp"
#include "pipeline/output/staged_dataset.hpp"
#include "pipeline/regions/chunk_rows.hpp"
#include "pipeline/run/block_flow.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// The output of a scan, in blocks of whole rows of chunks.
struct ChunkedBlocks {
  ArrayOutput& output;
  ChunkRows rows;
  Tiling blocks;                ///< blocks of outputs; ranks have them in turns
  std::uint64_t zeros = 0;      ///< outputs before the first prefix, which are 0
  std::uint64_t in_memory = 2;  ///< blocks of which a rank keeps the outputs
  int threads = 1;
};

/// Packs the prefixes of a rank's blocks as they come: threads store them in memory, where they
/// stay until their chunks are made.
class ChunkedPrefixes {
 public:
  /// `pieces`: how often each block of this rank is stored into. Starts threads. Throws Error.
  ChunkedPrefixes(const ChunkedBlocks& plan, const std::vector<PieceCounts>& pieces,
                  StageRegistry& stages, const mpi::Communicator& communicator);

  /// Stores a piece of this rank's block number `block`: prefixes of elements from flat index
  /// `first` on. Waits for memory. Threads may call it at once.
  void store(std::uint64_t block, std::uint64_t first, std::span<const std::byte> prefixes);

  /// Ends all waits of store(), which stores nothing from here on.
  void close() { is_closed_ = true; }

  ChunkPacker& packer() { return *packer_; }
  const ChunkPacker& packer() const { return *packer_; }

 private:
  std::uint64_t number_of(std::uint64_t block, int rank) const;
  std::byte* memory_of(std::uint64_t block) const;
  std::byte* place_of(std::uint64_t block, std::uint64_t output) const {
    return memory_of(block) + (output - firsts_[block]) * element_bytes_;
  }
  PackJob job();
  Stretches stretches() const;
  void supply_blocks();

  ChunkedBlocks plan_;
  int rank_;
  std::uint64_t ranks_;
  std::size_t element_bytes_;
  std::deque<cpu::PageBuffer> memory_;  ///< outputs of blocks, which take turns
  std::vector<std::uint64_t> firsts_;   ///< the first output of each block
  std::mutex mutex_;
  std::vector<std::uint64_t> left_;  ///< pieces of each block that are not stored
  std::uint64_t supplied_ = 0;       ///< first blocks that are stored
  std::atomic<bool> is_closed_ = false;
  PackJob job_;
  std::optional<ChunkPacker> packer_;
};

}  // namespace warpfold::pipeline
