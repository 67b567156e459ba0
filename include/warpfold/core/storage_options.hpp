#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warpfold {

/// Storage options specify how a dataset is stored: contiguous unless chunks are requested. Filters
/// need chunks; their shape is chosen if none is given.
struct StorageOptions {
  /// The chunks' extents in elements; those beyond the dataset's become the dataset's.
  std::vector<std::uint64_t> chunk_shape;
  bool choose_chunk_shape = false;   ///< in place of a chunk_shape
  std::optional<int> deflate_level;  ///< 0 to 9; none: not compressed by deflate
  std::optional<int> zstd_level;     ///< 1 to 22, in place of deflate; none: not by Zstandard
  bool shuffle = false;              ///< HDF5's filter that groups bytes of equal weight
  bool fletcher32 = false;           ///< HDF5's checksum of each chunk

  /// Returns whether chunks are requested.
  bool chunked() const { return choose_chunk_shape || !chunk_shape.empty(); }
  /// Returns whether any filter is requested.
  bool filtered() const { return deflate_level || zstd_level || shuffle || fletcher32; }
};

}  // namespace warpfold
