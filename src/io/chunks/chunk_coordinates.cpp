#include "io/chunks/chunk_coordinates.hpp"

#include "core/layout/partition.hpp"

namespace warpfold::io {

ChunkCoordinates::ChunkCoordinates(const StoredDataset& info)
    : shape_(info.stored_shape), chunk_shape_(info.chunk_shape) {
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    chunks_along_.push_back(ceil_div(shape_[d], chunk_shape_[d]));
  }
}

std::vector<std::uint64_t> ChunkCoordinates::of(std::uint64_t number) const {
  std::vector<std::uint64_t> coordinates(chunks_along_.size());
  for (std::size_t d = coordinates.size(); d-- > 0;) {
    coordinates[d] = number % chunks_along_[d];
    number /= chunks_along_[d];
  }
  return coordinates;
}

std::uint64_t ChunkCoordinates::number(const hsize_t* element) const {
  std::uint64_t number = 0;
  for (std::size_t d = 0; d < chunks_along_.size(); ++d) {
    number = number * chunks_along_[d] + element[d] / chunk_shape_[d];
  }
  return number;
}

bool ChunkCoordinates::contains(const hsize_t* element) const {
  for (std::size_t d = 0; d < shape_.size(); ++d) {
    if (element[d] >= shape_[d]) return false;
  }
  return true;
}

bool ChunkCoordinates::is_partial(const std::vector<std::uint64_t>& coordinates) const {
  for (std::size_t d = 0; d < coordinates.size(); ++d) {
    if ((coordinates[d] + 1) * chunk_shape_[d] > shape_[d]) return true;
  }
  return false;
}

std::string ChunkCoordinates::name(std::uint64_t number) const {
  std::string text;
  for (const std::uint64_t coordinate : of(number)) {
    text += (text.empty() ? "chunk [" : ", ") + std::to_string(coordinate);
  }
  return text + "]";
}

}  // namespace warpfold::io
