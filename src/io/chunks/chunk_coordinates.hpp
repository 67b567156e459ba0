#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <vector>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// Places of a dataset's chunks in their grid; they are numbered in row-major order.
class ChunkCoordinates {
 public:
  explicit ChunkCoordinates(const StoredDataset& info);

  /// Returns the coordinates of chunk `number`, in chunks.
  std::vector<std::uint64_t> of(std::uint64_t number) const;

  /// Returns the number of the chunk whose first element has these coordinates, in elements.
  std::uint64_t number(const hsize_t* element) const;

  /// Returns whether an element is the dataset's.
  bool contains(const hsize_t* element) const;

  /// Returns whether a part of the chunk lies beyond the dataset.
  bool is_partial(const std::vector<std::uint64_t>& coordinates) const;

  /// "chunk [3, 0]".
  std::string name(std::uint64_t number) const;

 private:
  std::vector<std::uint64_t> shape_;
  std::vector<std::uint64_t> chunk_shape_;
  std::vector<std::uint64_t> chunks_along_;
};

}  // namespace warpfold::io
