#include "io/chunks/chunk_lookup.hpp"

#if WARPFOLD_HDF5_ITERATES_CHUNKS

#include "io/hdf5/hdf5_error.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_handle.hpp"

namespace warpfold::io {
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

}  // namespace warpfold::io

#endif
