#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/partition.hpp"
#include "cpu/machine/page_buffer.hpp"
#include "io/output/output.hpp"
#include "mpi/communicator.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A chunk store holds the elements of a dataset in memory. Each rank owns equally many chunks, in
/// rank order. Any rank writes any elements; exchange() sends them to the owners of their chunks.
class ChunkStore {
 public:
  /// Throws std::bad_alloc.
  ChunkStore(const ChunkGrid& grid, std::size_t element_bytes,
             const mpi::Communicator& communicator);
  ChunkStore(const ChunkStore&) = delete;
  ChunkStore& operator=(const ChunkStore&) = delete;

  /// Returns how many chunks of a grid a rank owns; the last ranks may own fewer.
  static std::uint64_t share(const ChunkGrid& grid, const mpi::Communicator& communicator) {
    return ceil_div(grid.chunks(), static_cast<std::uint64_t>(communicator.size()));
  }

  /// Returns where this rank writes elements. All ranks together write each one once.
  io::ContiguousWriter& writer() { return writer_; }

  /// Sends elements of other ranks' chunks to these ranks, once all are written. Collective.
  void exchange();

  /// Fills `out` with elements that are adjacent in one of this rank's chunks. Thread-safe.
  void read(ElementRange range, std::span<std::byte> out) const;

 private:
  /// Place of an element in a chunk, and how many from it on are adjacent there.
  struct Place {
    std::uint64_t chunk = 0;
    std::uint64_t element = 0;
    std::uint64_t adjacent = 0;
  };

  struct Message {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t used = 0;
  };

  /// Messages to one rank. Thread-safe.
  class Outbox {
   public:
    /// Adds elements, whose first byte is at `byte` of the owner's memory.
    void put(std::uint64_t byte, std::span<const std::byte> elements);

    /// Returns the messages, which no thread adds to any more.
    std::vector<std::span<const std::byte>> messages() const;

   private:
    std::mutex mutex_;
    std::deque<Message> messages_;
  };

  Place place_of(std::uint64_t index) const;
  std::uint64_t byte_of(const Place& place) const;  ///< in the owner's memory
  void write(std::uint64_t byte, std::span<const std::byte> elements);
  void take(std::span<const std::byte> message);

  ChunkGrid grid_;
  std::size_t element_bytes_;
  std::uint64_t share_;
  const mpi::Communicator& communicator_;
  cpu::PageBuffer chunks_;  ///< chunks of this rank, whole ones
  std::vector<Outbox> outboxes_;
  io::ContiguousWriter writer_;
};

}  // namespace warpfold::pipeline
