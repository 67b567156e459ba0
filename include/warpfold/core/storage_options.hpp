#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace warpfold {

/// How a dataset is to be stored. Contiguous unless chunks are asked for; filters need chunks.
struct StorageOptions {
  /// In elements; extents beyond the dataset's are cut to them.
  std::vector<std::uint64_t> chunk_shape;
  bool choose_chunk_shape = false;  ///< in place of a chunk_shape
  std::optional<int> deflate_level;
  bool shuffle = false;
  bool fletcher32 = false;

  bool chunked() const { return choose_chunk_shape || !chunk_shape.empty(); }
  bool filtered() const { return deflate_level || shuffle || fletcher32; }
};

}  // namespace warpfold
