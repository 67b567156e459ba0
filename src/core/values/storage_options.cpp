#include "warpfold/core/storage_options.hpp"

#include <algorithm>

namespace warpfold {
namespace {

constexpr std::uint64_t chosen_chunk_bytes = std::uint64_t{4} << 20;

}  // namespace

StorageOptions with_chunk_shape(StorageOptions storage, std::span<const std::uint64_t> shape,
                                std::size_t element_bytes) {
  if (!storage.choose_chunk_shape) return storage;
  storage.choose_chunk_shape = false;
  storage.chunk_shape.resize(shape.size());
  std::uint64_t room = chosen_chunk_bytes / element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    storage.chunk_shape[d] = std::clamp<std::uint64_t>(shape[d], 1, room);
    room /= storage.chunk_shape[d];
  }
  return storage;
}

}  // namespace warpfold
