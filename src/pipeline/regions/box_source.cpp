#include "pipeline/regions/box_source.hpp"

#include <algorithm>

#include "core/engine/stage_timer.hpp"
#include "core/layout/partition.hpp"
#include "io/chunks/chunk_source.hpp"

namespace warpfold::pipeline {
namespace {

/// Of the part of a dataset that a box is, also along dimensions that its selection dropped.
ChunkTarget target_of(const Selection& part, std::span<const std::uint64_t> stride) {
  ChunkTarget target;
  target.elements = 1;
  std::size_t kept = 0;
  for (std::size_t d = 0; d < part.size(); ++d) {
    if (!part[d].dropped) target.stride[d] = stride[kept++];
    target.elements *= part[d].count;
  }
  return target;
}

/// For each dimension that a selection of a chunked dataset keeps, what `extent` says of it.
template <class Extent>
std::vector<std::uint64_t> for_kept_dimensions(const io::DatasetInfo& info, Extent&& extent) {
  const Selection selection = io::selection_of(info);
  std::vector<std::uint64_t> extents;
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (!selection[d].dropped) extents.push_back(extent(selection[d], info.chunk_shape[d]));
  return extents;
}

std::vector<std::uint64_t> granule_of(const io::DatasetInfo& info) {
  if (info.layout != io::Layout::chunked) return std::vector<std::uint64_t>(info.shape.size(), 1);
  return for_kept_dimensions(info, [](const Slice& slice, std::uint64_t chunk_extent) {
    return ceil_div(chunk_extent, slice.step);
  });
}

/// Chunks along a dimension that hold `count` selected elements from a multiple of `count` on, at
/// most.
std::uint64_t max_chunks(const Slice& slice, std::uint64_t chunk_extent, std::uint64_t count) {
  if (slice.step >= chunk_extent) return count;
  const bool even = slice.start % chunk_extent == 0 && chunk_extent % slice.step == 0;
  const std::uint64_t granule = chunk_extent / slice.step;
  if (even && count % granule == 0) return count / granule;
  if (even && granule % count == 0) return 1;
  return ((count - 1) * slice.step + chunk_extent - 1) / chunk_extent + 1;
}

/// Reads a box as one chunk of its own.
class PackedBoxReader final : public BoxReader {
 public:
  PackedBoxReader(io::Dataset& dataset, StageRegistry& registry)
      : dataset_(dataset), timer_(registry, stage::read) {}

  StagedChunks read(const Hyperslab& box, std::span<const std::uint64_t> stride,
                    std::span<std::byte> staging) override {
    const std::uint64_t bytes = box.elements() * size_of(dataset_.info().format.type);
    timer_.time(bytes, [&] { dataset_.read(box, staging.first(bytes)); });
    Selection everything;
    for (const std::uint64_t count : box.count) everything.push_back({0, count});
    return {unmerged_grid(box.count, box.count, everything),
            target_of(everything, stride),
            {&chunk_, 1},
            {}};
  }

  std::vector<StageTiming> timings() const override { return {timer_.timing()}; }

 private:
  io::Dataset& dataset_;
  StagedChunk chunk_;
  StageTimer timer_;
};

class PackedBoxSource final : public BoxSource {
 public:
  PackedBoxSource(io::Dataset& dataset, StageRegistry& registry)
      : dataset_(dataset), registry_(registry) {}

  std::uint64_t staging_bytes(std::span<const std::uint64_t> count) const override {
    return product(count) * size_of(dataset_.info().format.type);
  }

  std::vector<std::uint64_t> granule() const override { return granule_of(dataset_.info()); }

  std::unique_ptr<BoxReader> make_reader() override {
    return std::make_unique<PackedBoxReader>(dataset_, registry_);
  }

 private:
  io::Dataset& dataset_;
  StageRegistry& registry_;
};

/// Reads the chunks that hold a box's elements.
class ChunkedBoxReader final : public BoxReader {
 public:
  ChunkedBoxReader(const io::DatasetInfo& info, const io::ChunkSource& source,
                   StageRegistry& registry)
      : info_(info), reader_(source, registry) {}

  StagedChunks read(const Hyperslab& box, std::span<const std::uint64_t> stride,
                    std::span<std::byte> staging) override {
    const Selection part = io::part_of_box(info_, box);
    const ChunkGrid grid = unmerged_grid(info_.stored_shape, info_.chunk_shape, part);
    return {grid, target_of(part, stride), reader_.read_part(grid, staging), info_.fill};
  }

  std::vector<StageTiming> timings() const override { return reader_.timings(); }

 private:
  const io::DatasetInfo& info_;
  io::ChunkSource::Reader reader_;
};

class ChunkedBoxSource final : public BoxSource {
 public:
  ChunkedBoxSource(const io::DatasetInfo& info, StageRegistry& registry)
      : info_(info), chunks_(info, {0, io::grid_of(info).chunks()}), registry_(registry) {}

  std::uint64_t staging_bytes(std::span<const std::uint64_t> count) const override {
    std::size_t kept = 0;
    const auto chunks =
        for_kept_dimensions(info_, [&](const Slice& slice, std::uint64_t chunk_extent) {
          return max_chunks(slice, chunk_extent, count[kept++]);
        });
    return chunks_.staging_bytes(std::min(product(chunks), chunks_.grid().chunks()));
  }

  std::vector<std::uint64_t> granule() const override { return granule_of(info_); }

  std::unique_ptr<BoxReader> make_reader() override {
    return std::make_unique<ChunkedBoxReader>(info_, chunks_, registry_);
  }

 private:
  const io::DatasetInfo& info_;
  io::ChunkSource chunks_;
  StageRegistry& registry_;
};

}  // namespace

std::unique_ptr<BoxSource> make_box_source(io::Dataset& dataset, StageRegistry& registry) {
  const io::DatasetInfo& info = dataset.info();
  if (info.layout == io::Layout::chunked && info.path != ReadPath::library && info.elements > 0)
    return std::make_unique<ChunkedBoxSource>(info, registry);
  return std::make_unique<PackedBoxSource>(dataset, registry);
}

}  // namespace warpfold::pipeline
