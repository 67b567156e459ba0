#include "io/chunks/chunk_lookup.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "io/chunks/noting_driver.hpp"
#include "io/files/posix_file.hpp"
#include "io/hdf5/creation_properties.hpp"
#include "io/hdf5/hdf5_file.hpp"
#include "io/hdf5/hdf5_library.hpp"
#include "io/hdf5/link_access.hpp"
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

/// Entry of the index for a chunk, by its number.
struct StoredSize {
  std::uint64_t number;
  std::uint64_t bytes;
};

/// Gathers the chunks of a run that the index lists.
struct Collection {
  Collection(const DatasetInfo& info, hid_t dataset, const ChunkGrid& chunk_grid, ChunkRun wanted,
             const std::string& problem, std::vector<StoredChunk>& found)
      : coordinates(info),
        grid(chunk_grid),
        run(wanted),
        base(bytes_before_addresses(dataset, problem)),
        chunks(found) {}

  void require_possible(const std::string& problem) const {
    if (impossible)
      throw_impossible_size(coordinates, impossible->number, impossible->bytes, problem);
  }

  ChunkCoordinates coordinates;
  const ChunkGrid& grid;
  ChunkRun run;
  hsize_t base;
  std::vector<StoredChunk>& chunks;
  std::optional<StoredSize> impossible;
};

int collect(const hsize_t* element, unsigned skipped_filters, haddr_t address, hsize_t bytes,
            void* collection_pointer) {
  auto& collection = *static_cast<Collection*>(collection_pointer);
  if (!collection.coordinates.contains(element)) return H5_ITER_CONT;
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

/// Opens a dataset by a path that external links may lie on.
DatasetHandle open_guarded(hid_t file, const std::string& name, const std::string& problem) {
  const PropertiesHandle access(require(H5Pcreate(H5P_DATASET_ACCESS), problem));
  guard_links(access.get());
  return DatasetHandle(require(H5Dopen2(file, name.c_str(), access.get()), problem));
}

}  // namespace

#if WARPFOLD_HDF5_ITERATES_CHUNKS

std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem) {
  const FileHandle file = open_for_reading(info.file);
  const DatasetHandle dataset = open_guarded(file.get(), info.name, problem);
  std::vector<StoredChunk> chunks(run.count);
  Collection collection(info, dataset.get(), grid, run, problem, chunks);
  require(H5Dchunk_iter(dataset.get(), H5P_DEFAULT, collect, &collection), problem);
  collection.require_possible(problem);
  return chunks;
}

#else

namespace {

herr_t keep_innermost(unsigned depth, const H5E_error2_t* entry, void* innermost) {
  if (depth == 0) *static_cast<H5E_error2_t*>(innermost) = *entry;
  return 0;
}

/// Returns whether H5Dread_chunk failed because the chunk was never written: then the innermost
/// cause is that a dataset lacks something, not an index or the file.
bool failed_for_want_of_a_chunk() {
  H5E_error2_t innermost{};
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, &innermost);
  return innermost.maj_num == H5E_DATASET &&
         (innermost.min_num == H5E_CANTGET || innermost.min_num == H5E_BADVALUE);
}

/// An HDF5 file, open read-only, that can be asked which bytes a call of the library would read:
/// raw data are not read then, only their place is noted.
class AddressRecorder {
 public:
  AddressRecorder(const std::string& path, const std::string& problem) : driver_(problem) {
    const PropertiesHandle access(require(H5Pcreate(H5P_FILE_ACCESS), problem));
    driver_.set_in(access.get(), problem);
    file_ = FileHandle(require(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), problem));
  }

  hid_t file() const { return file_.get(); }

  /// Returns the raw data that `call` would have read last, if any; whatever buffer it was given
  /// keeps its contents.
  template <class Call>
  std::optional<FileBytes> record(Call call) {
    return driver_.note({.skips_reads = true, .stand_in = {}, .last = {}, .count = 0}, call).last;
  }

 private:
  NotingDriver driver_;
  FileHandle file_;
};

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
        dataset_(open_guarded(recorder_.file(), info.name, problem)) {}

  hid_t dataset() const { return dataset_.get(); }

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
      throw Error(problem_, coordinates_.name(number) + " is unreadable; " + take_library_causes(),
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

/// Returns how many chunks the index lists, where a search from the first one on for each of them
/// is quicker than a query for each of `chunks`; otherwise nothing.
std::optional<hsize_t> few_listed(const DatasetInfo& info, hid_t dataset, std::uint64_t chunks) {
  hsize_t listed = 0;
#if H5_VERSION_GE(1, 10, 5)
  if (info.unwritten_chunks == 0) return std::nullopt;
  if (lists_chunks_elsewhere(dataset, info.problem)) return std::nullopt;
  const SpaceHandle everything(require(H5Dget_space(dataset), info.problem));
  require(H5Dget_num_chunks(dataset, everything.get(), &listed), info.problem);
  if (listed < chunks / std::max<hsize_t>(listed, 1)) return listed;
#endif
  return std::nullopt;
}

/// Collects the first `listed` chunks of the index.
void list_chunks(hid_t dataset, hsize_t listed, Collection& collection,
                 const std::string& problem) {
#if H5_VERSION_GE(1, 10, 5)
  const SpaceHandle everything(require(H5Dget_space(dataset), problem));
  std::array<hsize_t, max_dimensions> element{};
  for (hsize_t i = 0; i < listed && !collection.impossible; ++i) {
    unsigned skipped_filters = 0;
    haddr_t address = 0;
    hsize_t bytes = 0;
    require(H5Dget_chunk_info(dataset, everything.get(), i, element.data(), &skipped_filters,
                              &address, &bytes),
            problem);
    collect(element.data(), skipped_filters, address, bytes, &collection);
  }
#endif
}

}  // namespace

std::vector<StoredChunk> look_up_chunks(const DatasetInfo& info, const ChunkGrid& grid,
                                        ChunkRun run, const std::string& problem) {
  ChunkQuery query(info, problem);
  std::vector<StoredChunk> chunks(run.count);
  if (const auto listed = few_listed(info, query.dataset(), run.count)) {
    Collection collection(info, query.dataset(), grid, run, problem, chunks);
    list_chunks(query.dataset(), *listed, collection, problem);
    collection.require_possible(problem);
    return chunks;
  }
  for (std::uint64_t i = 0; i < run.count; ++i)
    chunks[i] = query.find(grid.number_at(run.first + i));
  return chunks;
}

#endif

}  // namespace warpfold::io
