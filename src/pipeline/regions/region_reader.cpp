#include "pipeline/regions/region_reader.hpp"

#include <algorithm>

#include "pipeline/run/bottleneck.hpp"

namespace warpfold::pipeline {
namespace {

/// Returns where the part of a dataset that a box is goes, also along dimensions that its selection
/// dropped.
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

/// Returns for each dimension that a selection of a chunked dataset keeps, what `extent` says of
/// it.
template <class Extent>
std::vector<std::uint64_t> for_kept_dimensions(const io::DatasetInfo& info, Extent&& extent) {
  const Selection selection = io::selection_of(info);
  std::vector<std::uint64_t> extents;
  for (std::size_t d = 0; d < selection.size(); ++d)
    if (!selection[d].dropped) extents.push_back(extent(selection[d], info.chunk_shape[d]));
  return extents;
}

/// Returns how many chunks along a dimension hold `count` selected elements from a multiple of
/// `count` on, at most.
std::uint64_t max_chunks(const Slice& slice, std::uint64_t chunk_extent, std::uint64_t count) {
  if (slice.step >= chunk_extent) return count;
  const bool even = slice.start % chunk_extent == 0 && chunk_extent % slice.step == 0;
  const std::uint64_t granule = chunk_extent / slice.step;
  if (even && count % granule == 0) return count / granule;
  if (even && granule % count == 0) return 1;
  return ((count - 1) * slice.step + chunk_extent - 1) / chunk_extent + 1;
}

}  // namespace

bool reads_chunks(const io::DatasetInfo& info) {
  return info.layout == io::Layout::chunked && info.path != ReadPath::library && info.elements > 0;
}

RegionSource::RegionSource(io::Dataset& dataset, StageRegistry& registry,
                           const std::optional<ChunkRun>& mine)
    : dataset_(dataset), registry_(registry) {
  if (reads_chunks(info()))
    chunks_.emplace(info(), mine.value_or(ChunkRun{0, io::grid_of(info()).chunks()}));
}

void RegionSource::include(ElementRange more) {
  if (chunks_) chunks_->include({more.first, more.count});
}

void RegionSource::agree_on_sizes(const mpi::Communicator& communicator) {
  const auto mine = static_cast<double>(chunks_->max_stored_bytes());
  chunks_->expect_stored_bytes(
      static_cast<std::uint64_t>(mpi::maximum({mine}, communicator).front()));
}

Staging RegionSource::staging() const {
  if (chunks_) return Staging::chunks;
  return dataset_.may_read_past_cache() ? Staging::run : Staging::packed;
}

std::uint64_t RegionSource::bytes_of_range(std::uint64_t elements) const {
  const std::uint64_t slack = staging() == Staging::run ? io::fetch_slack : 0;
  return elements * size_of(info().format.type) + slack;
}

std::uint64_t RegionSource::bytes_of_chunks(std::uint64_t chunks) const {
  return chunks_->staging_bytes(chunks);
}

std::uint64_t RegionSource::bytes_of_box(std::span<const std::uint64_t> count) const {
  return chunks_ ? bytes_of_chunks(chunks_of_box(count)) : bytes_of_range(product(count));
}

std::uint64_t RegionSource::chunks_of_box(std::span<const std::uint64_t> count) const {
  if (!chunks_) return 0;
  std::size_t kept = 0;
  const auto chunks =
      for_kept_dimensions(info(), [&](const Slice& slice, std::uint64_t chunk_extent) {
        return max_chunks(slice, chunk_extent, count[kept++]);
      });
  return std::min(product(chunks), chunks_->grid().chunks());
}

CompressedChunks RegionSource::compressed(std::uint64_t chunks, std::uint64_t run_chunks,
                                          std::uint64_t cores) {
  const std::optional<CompressedForm> form = chunks_ ? chunks_->left_form() : std::nullopt;
  if (!form || chunks < chunks_of_cores_meanwhile(*form, cores)) return {};
  return {.chunks = chunks,
          .slab_chunks = run_chunks,
          .form = *form,
          .staging_bytes = chunks_->staging_bytes(run_chunks, io::Compressed::left),
          .decode = [this](std::uint64_t number, std::span<std::byte> out) {
            io::ChunkSource::Reader(*chunks_, registry_).read_one(number, out);
          }};
}

RegionReader::RegionReader(RegionSource& source, io::Compressed compressed) : source_(source) {
  if (source.chunks_)
    chunks_.emplace(*source.chunks_, source.registry_, compressed);
  else
    timer_.emplace(source.registry_, stage::read);
}

StagedChunks RegionReader::read(ElementRange range, std::uint64_t first_place,
                                std::span<std::byte> staging) {
  const std::uint64_t bytes = range.count * size_of(source_.info().format.type);
  const std::span<std::byte> there =
      timer_->time(bytes, [&] { return source_.dataset_.fetch(range, staging); });
  run_ = {0, static_cast<std::uint64_t>(there.data() - staging.data())};
  return staged_run(run_, {first_place, range.count}, range.first - first_place);
}

StagedChunks RegionReader::read_part(ElementRange part, std::span<std::byte> staging) {
  if (!chunks_) return read(part, 0, staging);
  const ChunkRun run{part.first, part.count};
  return read(run, box_target(*source_.grid(), run), box_indices(*source_.grid(), run), staging);
}

StagedChunks RegionReader::read(ChunkRun run, const ChunkTarget& target, const BoxIndices& indices,
                                std::span<std::byte> staging) {
  return {*source_.grid(), target, chunks_->read(run, staging), source_.info().fill, indices};
}

StagedChunks RegionReader::read(const Hyperslab& box, std::span<const std::uint64_t> stride,
                                std::span<std::byte> staging, bool still_there) {
  const io::DatasetInfo& info = source_.info();
  const BoxIndices indices = box_indices(box, stride, info.shape);
  if (chunks_) {
    const Selection part = io::part_of_box(info, box);
    const ChunkGrid grid = unmerged_grid(info.stored_shape, info.chunk_shape, part);
    return {grid, target_of(part, stride), chunks_->read_part(grid, staging, still_there),
            info.fill, indices};
  }
  const std::uint64_t bytes = box.elements() * size_of(info.format.type);
  const std::span<std::byte> there =
      timer_->time(bytes, [&] { return source_.dataset_.fetch(box, staging); });
  Selection everything;
  for (const std::uint64_t count : box.count) everything.push_back({0, count});
  run_ = {0, static_cast<std::uint64_t>(there.data() - staging.data())};
  return {unmerged_grid(box.count, box.count, everything),
          target_of(everything, stride),
          {&run_, 1},
          {},
          indices};
}

std::vector<StageTiming> RegionReader::timings() const {
  if (chunks_) return chunks_->timings();
  return {timer_->timing()};
}

}  // namespace warpfold::pipeline
