#include "io/chunks/chunk_lookup.hpp"

#include <limits>

#include "io/chunks/address_recorder.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::io {

std::optional<StoredChunk> listed_chunk(std::uint64_t address, std::uint64_t bytes,
                                        std::uint32_t skipped_filters) {
  if (bytes == 0 || bytes > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return StoredChunk{address, static_cast<std::uint32_t>(bytes), skipped_filters};
}

void throw_impossible_size(const ChunkCoordinates& coordinates, std::uint64_t number,
                           std::uint64_t bytes, const std::string& problem) {
  throw Error(
      problem,
      coordinates.name(number) + " has " + std::to_string(bytes) + " bytes by the file's index",
      copy_again);
}

#if WARPFOLD_HDF5_ITERATES_CHUNKS

namespace {

/// Up to 1.14.3 HDF5 counts addresses from the end of the user block.
hsize_t bytes_before_addresses(hid_t dataset, const std::string& problem) {
  if (H5_VERSION_GE(1, 14, 4)) return 0;
  const FileHandle file(require(H5Iget_file_id(dataset), problem));
  const PropertiesHandle creation(require(H5Fget_create_plist(file.get()), problem));
  hsize_t user_block = 0;
  require(H5Pget_userblock(creation.get(), &user_block), problem);
  return user_block;
}

/// What the index says of a chunk by its number.
struct StoredSize {
  std::uint64_t number;
  std::uint64_t bytes;
};

struct Collection {
  const ChunkCoordinates& coordinates;
  const ChunkGrid& grid;
  ChunkRun run;
  hsize_t base;
  std::vector<StoredChunk>& chunks;
  std::optional<StoredSize> impossible;
};

int collect(const hsize_t* element, unsigned skipped_filters, haddr_t address, hsize_t bytes,
            void* collection_pointer) {
  auto& collection = *static_cast<Collection*>(collection_pointer);
  const std::uint64_t number = collection.coordinates.number(element);
  const auto position = collection.grid.position_of(number);
  const bool wanted =
      position && *position >= collection.run.first && *position < collection.run.end();
  if (!wanted) return H5_ITER_CONT;
  const auto chunk = listed_chunk(collection.base + address, bytes, skipped_filters);
  if (!chunk) {
    collection.impossible = {number, bytes};
    return H5_ITER_STOP;
  }
  collection.chunks[*position - collection.run.first] = *chunk;
  return H5_ITER_CONT;
}

}  // namespace

std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem) {
  const FileHandle file = open_for_reading(info.file);
  const DatasetHandle dataset(
      require(H5Dopen2(file.get(), info.name.c_str(), H5P_DEFAULT), problem));
  const ChunkCoordinates coordinates(info);
  std::vector<StoredChunk> chunks(run.count);
  Collection collection{coordinates, grid, run, bytes_before_addresses(dataset.get(), problem),
                        chunks,      {}};
  require(H5Dchunk_iter(dataset.get(), H5P_DEFAULT, collect, &collection), problem);
  if (const auto& wrong = collection.impossible)
    throw_impossible_size(coordinates, wrong->number, wrong->bytes, problem);
  return chunks;
}

#else

namespace {

herr_t keep_innermost(unsigned depth, const H5E_error2_t* entry, void* innermost) {
  if (depth == 0) *static_cast<H5E_error2_t*>(innermost) = *entry;
  return 0;
}

/// Tells whether H5Dread_chunk failed because the chunk was never written: then the innermost cause
/// is that a dataset lacks something, not an index or the file.
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
      : problem_(problem),
        coordinates_(info),
        chunk_shape_(info.chunk_shape),
        written_shape_(info.written_shape),
        recorder_(info.file, problem),
        dataset_(require(H5Dopen2(recorder_.file(), info.name.c_str(), H5P_DEFAULT), problem)) {}

  StoredChunk find(std::uint64_t number) {
    const std::vector<hsize_t> element = first_element_of(number);
    for (std::size_t d = 0; d < written_shape_.size(); ++d)
      if (element[d] >= written_shape_[d]) return StoredChunk{};
    std::uint32_t skipped_filters = 0;
    std::byte untouched{};
    herr_t status = 0;
    const auto bytes = recorder_.record([&] {
      status =
          H5Dread_chunk(dataset_.get(), H5P_DEFAULT, element.data(), &skipped_filters, &untouched);
    });
    if (status < 0 && failed_for_want_of_a_chunk()) return StoredChunk{};
    if (status < 0) {
      throw Error(problem_, coordinates_.name(number) + ": " + take_library_causes(),
                  "Check the file with h5ls or h5dump.");
    }
    // A parallel HDF5 reads even no bytes.
    const FileBytes read = bytes.value_or(FileBytes{});
    const auto chunk = listed_chunk(read.address, read.count, skipped_filters);
    if (!chunk) throw_impossible_size(coordinates_, number, read.count, problem_);
    return *chunk;
  }

 private:
  std::vector<hsize_t> first_element_of(std::uint64_t number) const {
    std::vector<hsize_t> element;
    for (const std::uint64_t place : coordinates_.of(number))
      element.push_back(place * chunk_shape_[element.size()]);
    return element;
  }

  const std::string& problem_;
  ChunkCoordinates coordinates_;
  const std::vector<std::uint64_t>& chunk_shape_;
  const std::vector<std::uint64_t>& written_shape_;
  AddressRecorder recorder_;
  DatasetHandle dataset_;
};

}  // namespace

std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem) {
  ChunkQuery query(info, problem);
  std::vector<StoredChunk> chunks;
  chunks.reserve(run.count);
  for (std::uint64_t position = run.first; position < run.end(); ++position)
    chunks.push_back(query.find(grid.number_at(position)));
  return chunks;
}

#endif

}  // namespace warpfold::io
