#pragma once

#include <cstddef>
#include <cstdint>

#include "io/dataset/dataset.hpp"

namespace warpfold::io {

/// The part of a dataset that each chunk belongs to. A dataset without parts is its only
/// one.
class ChunkParts {
 public:
  explicit ChunkParts(const DatasetInfo& info);

  struct Place {
    std::size_t part = 0;
    std::uint64_t number = 0;  ///< number of the chunk in the part
  };

  /// Places chunk `number` of the dataset.
  Place place_of(std::uint64_t number) const;

  const DatasetInfo& part(std::size_t part) const;

 private:
  DatasetInfo info_;
  std::uint64_t along_ = 1;  ///< chunks along the parts' dimension
  std::uint64_t inner_ = 1;  ///< chunks along all dimensions behind it
};

}  // namespace warpfold::io
