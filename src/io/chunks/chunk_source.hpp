#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/stage_registry.hpp"
#include "core/layout/chunk_grid.hpp"
#include "core/layout/staged_chunks.hpp"
#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// How a reader treats compressed chunks: it decompresses them, or keeps them compressed except for
/// checksums around the compression and a shuffle before it. Others are always decoded.
enum class Compressed : std::uint8_t { undone, left };

/// Returns the form of chunks that readers leave compressed; nothing where they can't.
std::optional<CompressedForm> left_form(const DatasetInfo& info);

/// Reads those chunks of a chunked dataset that are a rank's, and others that are included.
class ChunkSource {
 public:
  /// Reads the index of `mine`, positions in grid_of(info). Throws Error.
  ChunkSource(const DatasetInfo& info, ChunkRun mine);
  ~ChunkSource();

  /// Reads the index of further chunks, unless it is known. Threads may call it at once. Throws
  /// Error.
  void include(ChunkRun more);

  const ChunkGrid& grid() const;

  /// Return and raise the bytes of the largest chunk, as stored, that staging memory has to hold.
  std::uint64_t max_stored_bytes() const;
  void expect_stored_bytes(std::uint64_t bytes);

  /// Returns the form of chunks that are left compressed; nothing where none can be.
  std::optional<CompressedForm> left_form() const;

  /// Staging memory that so many chunks need, wherever they lie in the file.
  std::uint64_t staging_bytes(std::uint64_t chunks,
                              Compressed compressed = Compressed::undone) const;

  /// Returns whether no chunk of a run within this source's was ever written.
  bool never_written(ChunkRun run) const;

  /// One thread's way to the chunks: threads read at once, each with its own.
  class Reader {
   public:
    /// Shows its stages in `registry`, which outlives it.
    Reader(const ChunkSource& source, StageRegistry& registry,
           Compressed compressed = Compressed::undone);
    ~Reader();
    Reader(Reader&&) noexcept;

    /// Reads chunks and undoes their filters, all but a shuffle. Chunks that lie together in the
    /// file are read at once. The answer is valid until the next call. Throws an Error that names
    /// the file, the dataset and the chunk's coordinates.
    std::span<const StagedChunk> read(ChunkRun run, std::span<std::byte> staging);

    /// Reads one chunk, by its number in the grid, into all of `out`.
    void read_one(std::uint64_t number, std::span<std::byte> out);

    /// Reads all chunks of `part` so: the same grid, less selected. Where what the call before left
    /// in this memory is still there, chunks that it decoded are not read again, nor others where
    /// none are wanted beside them.
    std::span<const StagedChunk> read_part(const ChunkGrid& part, std::span<std::byte> staging,
                                           bool still_there = false);

    /// Times since construction: of reading bytes as stored and, where there are filters, of
    /// undoing them, which is counted in the bytes that come of it.
    std::vector<StageTiming> timings() const;

   private:
    class Implementation;
    std::unique_ptr<Implementation> implementation_;
  };

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

}  // namespace warpfold::io
