#pragma once

#include <utility>
#include <vector>

#include "io/dataset/dataset.hpp"

namespace warpfold::pipeline {

/// An f32 dataset as if it had been opened: contiguous without a chunk shape.
inline io::DatasetInfo described_dataset(std::vector<std::uint64_t> shape,
                                         std::vector<std::uint64_t> chunk_shape, ReadPath path) {
  io::DatasetInfo info;
  info.format.type = ElementType::f32;
  info.shape = std::move(shape);
  info.stored_shape = info.shape;
  info.elements = 1;
  for (const std::uint64_t extent : info.shape) info.elements *= extent;
  info.stored_bytes = info.elements * size_of(info.format.type);
  info.chunk_shape = std::move(chunk_shape);
  info.layout = info.chunk_shape.empty() ? io::Layout::contiguous : io::Layout::chunked;
  info.path = path;
  return info;
}

}  // namespace warpfold::pipeline
