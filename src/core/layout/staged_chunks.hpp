#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "core/layout/chunk_grid.hpp"
#include "core/layout/hyperslab.hpp"

namespace warpfold {

/// Meaning of a chunk's bytes in staging memory.
enum class ChunkEncoding : std::uint8_t {
  unwritten,  ///< none: the chunk was never written, its elements are the fill value
  plain,      ///< its elements one behind another
  shuffled,   ///< as HDF5's shuffle filter leaves them: the first bytes of all elements, then the
              ///< second bytes, ...
};

/// How chunks are compressed that are left so.
enum class Compression : std::uint8_t {
  zlib,             ///< a zlib stream
  lz4,              ///< as HDF5's filter 32004 does it
  bitshuffled_lz4,  ///< as its filter 32008 does it, by way of LZ4, in blocks of at most
                    ///< max_bit_plane_bytes
};

/// The most bytes of a block of planes of bits: what GPUs have room for.
inline constexpr std::uint32_t max_bit_plane_bytes = 8192;

struct CompressedForm {
  Compression compression = Compression::zlib;
  std::uint64_t chunk_bytes = 0;   ///< bytes of a decompressed chunk
  std::uint64_t chunk_blocks = 1;  ///< that are compressed apart, the most
  std::size_t element_bytes = 1;
};

/// A chunk in staging memory. All its elements are there, also those beyond the dataset, in
/// row-major order of the chunk.
struct StagedChunk {
  std::uint64_t number = 0;  ///< in its grid
  std::uint64_t source = 0;  ///< first byte, from the start of the staging memory; any alignment
  ChunkEncoding encoding = ChunkEncoding::plain;

  /// Bytes of the compressed chunk; 0 if it is not compressed. Decompression by the CompressedForm
  /// that all chunks share gives the bytes that `encoding` describes.
  std::uint32_t compressed_bytes = 0;
};

/// Destination of selected elements: the one at coordinates x among them goes to place sum(x[d] *
/// stride[d]) - origin, in elements, or nowhere if that is not below `elements`.
struct ChunkTarget {
  std::uint64_t stride[max_dimensions] = {};
  std::uint64_t origin = 0;
  std::uint64_t elements = 0;
};

/// Elements of a box of a selection, in row-major order of the box: the one at place p has the flat
/// index operator()(p), which rises with p.
struct BoxIndices {
  std::uint64_t first = 0;
  int dimensions = 0;  ///< 0: the indices are consecutive
  std::uint64_t extent[max_dimensions] = {};
  std::uint64_t stride[max_dimensions] = {};

  WARPFOLD_HD std::uint64_t operator()(std::uint64_t place) const {
    if (dimensions == 0) return first + place;
    std::uint64_t index = first;
    for (int d = dimensions - 1; d > 0; --d) {
      const std::uint64_t outer = place / extent[d];
      index += (place - outer * extent[d]) * stride[d];
      place = outer;
    }
    return index + place * stride[0];
  }
};

/// Returns how the elements of the box that a run of chunks of tile_chunks() forms are
/// packed.
ChunkTarget box_target(const ChunkGrid& grid, ChunkRun run);

/// Returns the flat indices of that box.
BoxIndices box_indices(const ChunkGrid& grid, ChunkRun run);

/// Returns the flat indices, in an array of `shape`, of the elements of one of its boxes, where
/// those lie one behind another by `stride`: any order of dimensions.
BoxIndices box_indices(const Hyperslab& box, std::span<const std::uint64_t> stride,
                       std::span<const std::uint64_t> shape);

/// Returns the target of a flat range of the selection.
ChunkTarget flat_target(const ChunkGrid& grid, ElementRange range);

/// Chunks in staging memory, and where their elements go.
struct StagedChunks {
  ChunkGrid grid;
  ChunkTarget target;
  std::span<const StagedChunk> chunks;
  std::array<std::byte, 8> fill = {};  ///< one element, as it would be stored
  BoxIndices indices = {};             ///< flat, of places: what a mask and factors go by

  /// The factor of the element at place p is that of the one at p % factor_places; 0: who knows.
  std::uint64_t factor_places = 0;

  std::optional<BoxIndices> rows = {};  ///< indices that extrema get instead, of a matrix's rows

  /// Returns the indices that extrema get.
  const BoxIndices& indices_of_extrema() const { return rows ? *rows : indices; }
};

/// Returns a run of elements as the one chunk of an array of its own; it goes to `places`, and the
/// element at place p has index first_index + p.
StagedChunks staged_run(const StagedChunk& run, ElementRange places, std::uint64_t first_index = 0);

/// Elements that lie one behind another in staging memory and at their target.
struct StagedRun {
  std::uint64_t source = 0;  ///< first byte, as a StagedChunk's
  std::uint64_t place = 0;   ///< place of the first
  std::uint64_t elements = 0;
};

/// Returns the run that chunks are; nothing where they are anything else.
std::optional<StagedRun> run_of(const StagedChunks& chunks);

}  // namespace warpfold
