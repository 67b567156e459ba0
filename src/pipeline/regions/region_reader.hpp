#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/stage_timer.hpp"
#include "core/engine/staging_plan.hpp"
#include "core/layout/staged_chunks.hpp"
#include "io/chunks/chunk_source.hpp"
#include "io/dataset/dataset.hpp"
#include "mpi/communicator.hpp"

namespace warpfold::pipeline {

/// Returns whether a dataset's chunks are read one by one.
bool reads_chunks(const io::DatasetInfo& info);

/// Source of regions of a dataset: its chunks if these are read one by one, otherwise any elements
/// that are requested.
class RegionSource {
 public:
  /// Borrows the dataset; what readers do is seen in the registry. Where chunks are read, they are
  /// those of `mine` alone, given by position, or all. Throws Error.
  RegionSource(io::Dataset& dataset, StageRegistry& registry,
               const std::optional<ChunkRun>& mine = std::nullopt);

  const io::DatasetInfo& info() const { return dataset_.info(); }

  /// Returns the grid of the dataset's chunks, where these are read.
  const ChunkGrid* grid() const { return chunks_ ? &chunks_->grid() : nullptr; }

  /// Lets readers read further chunks, by position, where chunks are read. Threads may call it at
  /// once. Throws Error.
  void include(ElementRange more);

  /// Makes staging memory hold the largest stored chunk of all ranks, where chunks are read.
  /// Collective.
  void agree_on_sizes(const mpi::Communicator& communicator);

  /// Returns whether no chunk of a run was ever written, where chunks are read.
  bool never_written(ChunkRun run) const { return chunks_->never_written(run); }

  /// Returns what chunks bring, runs of so many at a time, to a GPU that decompresses; nothing
  /// where so many cores have done so before it has decompressed one stream. It refers to this
  /// source.
  CompressedChunks compressed(std::uint64_t chunks, std::uint64_t run_chunks, std::uint64_t cores);

  /// Returns how many chunks boxes that start at multiples of `count[d]` along each dimension, and
  /// have at most as many indices, have a part in at most; 0 where chunks are not read.
  std::uint64_t chunks_of_box(std::span<const std::uint64_t> count) const;

  /// Returns how flat ranges of elements, or runs of chunks, come.
  Staging staging() const;

  /// Returns the staging memory, in bytes, for a flat range of so many elements, for so many
  /// chunks, and for boxes as chunks_of_box() takes them.
  std::uint64_t bytes_of_range(std::uint64_t elements) const;
  std::uint64_t bytes_of_chunks(std::uint64_t chunks) const;
  std::uint64_t bytes_of_box(std::span<const std::uint64_t> count) const;

 private:
  friend class RegionReader;

  io::Dataset& dataset_;
  StageRegistry& registry_;
  std::optional<io::ChunkSource> chunks_;
};

/// One thread's way to regions of a dataset. What it returns is valid until the next call. Reading
/// throws Error.
class RegionReader {
 public:
  explicit RegionReader(RegionSource& source, io::Compressed compressed = io::Compressed::undone);

  /// Reads a flat range, where no chunks are read; it goes to places from `first_place` on.
  StagedChunks read(ElementRange range, std::uint64_t first_place, std::span<std::byte> staging);

  /// Reads a part of a slab, consecutive chunks by position where chunks are read, otherwise a flat
  /// range, to places from 0 on.
  StagedChunks read_part(ElementRange part, std::span<std::byte> staging);

  /// Reads chunks, for a target of theirs, whose places have these flat indices.
  StagedChunks read(ChunkRun run, const ChunkTarget& target, const BoxIndices& indices,
                    std::span<std::byte> staging);

  /// Reads a box, in whatever way. The element at coordinates x of the box (from 0) goes to place
  /// sum(x[d] * stride[d]); the places of all are 0 to box.elements() - 1. Where what the call
  /// before left in this memory is still there, chunks that it decoded are not read again.
  StagedChunks read(const Hyperslab& box, std::span<const std::uint64_t> stride,
                    std::span<std::byte> staging, bool still_there = false);

  /// Returns what its stages took so far.
  std::vector<StageTiming> timings() const;

 private:
  RegionSource& source_;
  std::optional<io::ChunkSource::Reader> chunks_;
  std::optional<StageTimer> timer_;  ///< null if chunks are read
  StagedChunk run_;
};

}  // namespace warpfold::pipeline
