#include "io/chunk_lookup.hpp"

#if !WARPFOLD_HDF5_ITERATES_CHUNKS

#include <limits>
#include <optional>

#include "io/address_recorder.hpp"
#include "io/chunk_coordinates.hpp"
#include "io/hdf5_error.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {
namespace {

herr_t keep_innermost(unsigned depth, const H5E_error2_t* entry, void* innermost) {
  if (depth == 0) *static_cast<H5E_error2_t*>(innermost) = *entry;
  return 0;
}

/// Whether H5Dread_chunk failed because the chunk was never written: then the innermost cause is
/// that a dataset lacks something, not an index or the file.
bool failed_for_want_of_a_chunk() {
  H5E_error2_t innermost{};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &innermost);
  return innermost.maj_num == H5E_DATASET &&
         (innermost.min_num == H5E_CANTGET || innermost.min_num == H5E_BADVALUE);
}

/// Asks for chunks by their coordinates, which HDF5 finds in the index in logarithmic time, and
/// sees where it would read.
class ChunkQuery {
 public:
  ChunkQuery(const DatasetInfo& info, const std::string& problem)
      : recorder_(info.file, problem),
        dataset_(require(H5Dopen2(recorder_.file(), info.name.c_str(), H5P_DEFAULT), problem)) {}

  /// The chunk whose first element has these coordinates; none where HDF5 can't tell.
  std::optional<StoredChunk> find(const std::vector<hsize_t>& element) {
    std::uint32_t skipped_filters = 0;
    std::byte untouched{};
    herr_t status = 0;
    const auto bytes = recorder_.record([&] {
      status =
          H5Dread_chunk(dataset_.get(), H5P_DEFAULT, element.data(), &skipped_filters, &untouched);
    });
    if (status < 0 && failed_for_want_of_a_chunk()) return StoredChunk{};
    // No bytes would be those of a chunk that was never written; a parallel HDF5 reads even these.
    if (status < 0 || !bytes || bytes->count == 0 || bytes->count > most_bytes) return std::nullopt;
    return StoredChunk{bytes->address, static_cast<std::uint32_t>(bytes->count), skipped_filters};
  }

 private:
  static constexpr std::uint64_t most_bytes = std::numeric_limits<std::uint32_t>::max();

  AddressRecorder recorder_;
  DatasetHandle dataset_;
};

}  // namespace

std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem) {
  ChunkQuery query(info, problem);
  const ChunkCoordinates coordinates(info);
  std::vector<hsize_t> element(info.chunk_shape.size());
  std::vector<StoredChunk> chunks;
  chunks.reserve(run.count);
  for (std::uint64_t position = run.first; position < run.end(); ++position) {
    const std::uint64_t number = grid.number_at(position);
    const std::vector<std::uint64_t> chunk_place = coordinates.of(number);
    for (std::size_t d = 0; d < element.size(); ++d) {
      element[d] = chunk_place[d] * info.chunk_shape[d];
    }
    const std::optional<StoredChunk> chunk = query.find(element);
    if (!chunk) {
      throw Error(problem, coordinates.name(number) + ": " + take_library_causes(),
                  "Check the file with h5ls or h5dump.");
    }
    chunks.push_back(*chunk);
  }
  return chunks;
}

}  // namespace warpfold::io

#endif
