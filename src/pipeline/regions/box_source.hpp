#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/engine/stage_registry.hpp"
#include "core/layout/hyperslab.hpp"
#include "core/layout/staged_chunks.hpp"
#include "io/dataset/dataset.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// One thread's way to boxes of a dataset, by whatever path the dataset is read.
class BoxReader {
 public:
  virtual ~BoxReader() = default;

  /// Reads a box of the (selected) shape into staging memory. The element at coordinates x of the
  /// box (from 0) belongs to place sum(x[d] * stride[d]); the places of all are 0 to box.elements()
  /// - 1. The answer is valid until the next call. Throws Error.
  virtual StagedChunks read(const Hyperslab& box, std::span<const std::uint64_t> stride,
                            std::span<std::byte> staging) = 0;

  /// So far.
  virtual std::vector<StageTiming> timings() const = 0;
};

/// Where boxes come from.
class BoxSource {
 public:
  virtual ~BoxSource() = default;

  /// Staging memory for boxes that start at multiples of `count[d]` along each dimension and have
  /// at most as many.
  virtual std::uint64_t staging_bytes(std::span<const std::uint64_t> count) const = 0;

  /// Extents for which boxes are read best: those whose counts and starts are multiples of them;
  /// the chunks' where the dataset is chunked, otherwise 1 along all dimensions.
  virtual std::vector<std::uint64_t> granule() const = 0;

  virtual std::unique_ptr<BoxReader> make_reader() = 0;
};

/// Borrows the dataset; its stages are seen on `board`. Throws Error.
std::unique_ptr<BoxSource> make_box_source(io::Dataset& dataset, StageRegistry& registry);

}  // namespace warpfold::pipeline
