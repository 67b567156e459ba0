#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warpfold {

/// Storage of a dataset: contiguous unless chunks are requested. Filters need chunks, whose shape
/// is chosen if none is given.
struct StorageOptions {
  /// Extents of chunks in elements; larger ones than the dataset's are reduced to those.
  std::vector<std::uint64_t> chunk_shape;
  bool choose_chunk_shape = false;   ///< instead of giving chunk_shape
  std::optional<int> deflate_level;  ///< 0 to 9; none: no deflate
  std::optional<int> zstd_level;     ///< 1 to 22, instead of deflate; none: no Zstandard
  bool shuffle = false;              ///< HDF5's filter that groups bytes of equal significance
  bool fletcher32 = false;           ///< HDF5's checksum of each chunk

  /// Returns whether chunks are requested.
  bool chunked() const { return choose_chunk_shape || !chunk_shape.empty(); }
  /// Returns whether any filter is requested.
  bool filtered() const { return deflate_level || zstd_level || shuffle || fletcher32; }
};

}  // namespace warpfold
