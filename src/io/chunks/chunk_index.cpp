#include "io/chunks/chunk_index.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <map>
#include <utility>

#include "io/chunks/chunk_coordinates.hpp"
#include "io/chunks/chunk_lookup.hpp"
#include "io/chunks/chunk_parts.hpp"
#include "io/dataset/dataset_info.hpp"
#include "io/dataset/dataset_parts.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint32_t all_filters = ~std::uint32_t{0};

std::uint64_t size_of_file(const std::string& path, const std::string& problem) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) throw Error(problem, describe_errno(errno), "");
  return static_cast<std::uint64_t>(status.st_size);
}

/// Holds what a file says of its chunks against what it can be.
class IndexCheck {
 public:
  IndexCheck(const DatasetInfo& info, const std::string& problem)
      : problem_(problem),
        coordinates_(info),
        file_bytes_(size_of_file(info.stored_file, problem)),
        chunk_bytes_(chunk_bytes_of(info)),
        pipeline_(info.filters.empty() ? 0 : all_filters >> (32 - info.filters.size())) {}

  void require_plausible(const StoredChunk& chunk, std::uint64_t number) const {
    if (chunk.address > file_bytes_ || chunk.bytes > file_bytes_ - chunk.address) {
      refuse(number, "has " + std::to_string(chunk.bytes) + " bytes at byte " +
                         std::to_string(chunk.address) + ", the file ends at byte " +
                         std::to_string(file_bytes_));
    }
    const bool filtered = (chunk.skipped_filters & pipeline_) != pipeline_;
    if (!filtered && chunk.bytes != chunk_bytes_) {
      refuse(number, "at byte " + std::to_string(chunk.address) + " has " +
                         std::to_string(chunk.bytes) + " bytes where " +
                         std::to_string(chunk_bytes_) + " belong");
    }
  }

 private:
  [[noreturn]] void refuse(std::uint64_t number, const std::string& fault) const {
    throw Error(problem_, coordinates_.name(number) + " " + fault, copy_again);
  }

  const std::string& problem_;
  ChunkCoordinates coordinates_;
  std::uint64_t file_bytes_;
  std::uint64_t chunk_bytes_;
  std::uint32_t pipeline_;  ///< a bit for each filter
};

/// HDF5 has no mark for chunks that are stored without filters because they reach beyond the
/// dataset.
void mark_unfiltered_edges(const DatasetInfo& info, const ChunkGrid& grid, ChunkRun run,
                           std::vector<StoredChunk>& chunks) {
  if (info.partial_edge_chunks_filtered || info.filters.empty()) return;
  const ChunkCoordinates coordinates(info);
  for (std::uint64_t i = 0; i < run.count; ++i)
    if (coordinates.is_partial(coordinates.of(grid.number_at(run.first + i))))
      chunks[i].skipped_filters = all_filters;
}

/// Has what the files of a dataset's parts say of the chunks that are selected, read when it is
/// requested.
class PartIndices {
 public:
  explicit PartIndices(const DatasetInfo& info) : parts_(info) {
    for (PartSelection& each : parts_of(*info.parts, selection_of(info)))
      selections_.emplace(each.part, std::move(each.selection));
  }

  const StoredChunk& find(std::uint64_t number) {
    const auto [part, number_in_part] = parts_.place_of(number);
    Index& index = indices_[part];
    if (index.chunks.empty()) index = read(part);
    return index.chunks[index.grid.position_of(number_in_part).value()];
  }

 private:
  struct Index {
    ChunkGrid grid;
    std::vector<StoredChunk> chunks;
  };

  Index read(std::size_t part) const {
    DatasetInfo info = parts_.part(part);
    take_selection(info, selections_.at(part));
    const ChunkGrid grid = grid_of(info);
    return {grid, read_chunk_index(info, {0, grid.chunks()})};
  }

  ChunkParts parts_;
  std::map<std::size_t, Selection> selections_;
  std::map<std::size_t, Index> indices_;
};

std::vector<StoredChunk> read_part_indices(const DatasetInfo& info, ChunkRun run) {
  const ChunkGrid grid = grid_of(info);
  PartIndices indices(info);
  std::vector<StoredChunk> chunks;
  for (std::uint64_t position = run.first; position < run.end(); ++position)
    chunks.push_back(indices.find(grid.number_at(position)));
  return chunks;
}

}  // namespace

std::vector<StoredChunk> read_chunk_index(const DatasetInfo& info, ChunkRun run) {
  if (info.parts) return read_part_indices(info, run);
  if (run.count == 0 || info.stored_bytes == 0) return std::vector<StoredChunk>(run.count);
  const std::string& problem = info.problem;
  const LibraryScope scope;
  const ChunkGrid grid = grid_of(info);
  std::vector<StoredChunk> chunks = look_up_chunks(info, grid, run, problem);
  mark_unfiltered_edges(info, grid, run, chunks);
  const IndexCheck check(info, problem);
  for (std::uint64_t i = 0; i < run.count; ++i) {
    if (chunks[i].bytes > 0) check.require_plausible(chunks[i], grid.number_at(run.first + i));
  }
  return chunks;
}

}  // namespace warpfold::io
