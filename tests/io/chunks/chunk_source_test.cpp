#include "io/chunks/chunk_source.hpp"

#include <zlib.h>

#include <cstring>
#include <numeric>
#include <thread>
#include <utility>

#include "io/chunks/chunk_index.hpp"
#include "io/chunks/chunk_reading.hpp"
#include "io/hdf5/hdf5_fixture.hpp"
#include "io/hdf5/hdf5_library.hpp"

namespace warpfold::io {
namespace {

using FileShape = std::vector<hsize_t>;

/// A chunked dataset to be made; where it is not said otherwise, of int32 in HDF5's oldest format.
struct Recipe {
  FileShape shape{11, 7, 13};
  FileShape maximum = {};  ///< as shape where empty
  FileShape chunk{4, 3, 5};
  hsize_t user_block = 0;
  H5F_libver_t version = H5F_LIBVER_EARLIEST;
  std::vector<H5Z_filter_t> filters = {};
  bool allocated_early = false;
  bool partial_edges_filtered = true;
};

void add_filter(hid_t creation, H5Z_filter_t filter) {
  switch (filter) {
    case H5Z_FILTER_DEFLATE:
      H5Pset_deflate(creation, 4);
      return;
    case H5Z_FILTER_SHUFFLE:
      H5Pset_shuffle(creation);
      return;
    default:
      H5Pset_fletcher32(creation);
  }
}

PropertiesHandle creation_of(const Recipe& recipe) {
  PropertiesHandle creation = dataset_creation();
  H5Pset_chunk(creation.get(), static_cast<int>(recipe.chunk.size()), recipe.chunk.data());
  for (const H5Z_filter_t filter : recipe.filters) add_filter(creation.get(), filter);
  if (recipe.allocated_early) H5Pset_alloc_time(creation.get(), H5D_ALLOC_TIME_EARLY);
  if (!recipe.partial_edges_filtered) {
    H5Pset_chunk_opts(creation.get(), H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS);
  }
  return creation;
}

std::size_t elements_of(const FileShape& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

constexpr hsize_t user_blocks[] = {0, 512, 4096};
constexpr std::uint64_t runs_of[] = {1, 5, 1000};
const std::vector<H5Z_filter_t> all_filters{H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE,
                                            H5Z_FILTER_FLETCHER32};

class ChunkSourceTest : public Hdf5Test {
 protected:
  FileHandle make_file(const Recipe& recipe) const {
    const PropertiesHandle creation(H5Pcreate(H5P_FILE_CREATE));
    H5Pset_userblock(creation.get(), recipe.user_block);
    const PropertiesHandle access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access.get(), recipe.version, H5F_LIBVER_LATEST);
    return FileHandle(H5Fcreate(path("x.h5").c_str(), H5F_ACC_TRUNC, creation.get(), access.get()));
  }

  DatasetHandle make_dataset(hid_t file, const Recipe& recipe, hid_t creation) const {
    const FileShape maximum = recipe.maximum.empty() ? recipe.shape : recipe.maximum;
    const SpaceHandle space(H5Screate_simple(static_cast<int>(recipe.shape.size()),
                                             recipe.shape.data(), maximum.data()));
    return create_dataset_in(file, "x", H5T_STD_I32LE, space, creation);
  }

  void make(const Recipe& recipe) const {
    const FileHandle file = make_file(recipe);
    const DatasetHandle dataset = make_dataset(file.get(), recipe, creation_of(recipe).get());
    write_all(dataset.get(), H5T_NATIVE_INT32, numbered(elements_of(recipe.shape)));
  }

  DatasetInfo info() const { return Dataset(path("x.h5"), "x").info(); }

  StoredChunk chunk(std::uint64_t number) const {
    return read_chunk_index(info(), {number, 1}).front();
  }

  void overwrite(std::uint64_t address, const std::string& bytes) const {
    std::fstream file(path("x.h5"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(address));
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  }

  /// Overwrites `old_bytes` wherever the file has them.
  void replace(const std::string& old_bytes, const std::string& new_bytes) const {
    std::ifstream stream(path("x.h5"), std::ios::binary);
    const std::string file((std::istreambuf_iterator<char>(stream)), {});
    std::size_t found = 0;
    for (std::size_t at = file.find(old_bytes); at != std::string::npos;
         at = file.find(old_bytes, at + 1)) {
      overwrite(at, new_bytes);
      ++found;
    }
    EXPECT_GT(found, 0U);
  }

  std::string refusal() const {
    return error_of([&] { read_by_chunks(info(), 4); }).what();
  }
};

std::string as_bytes(std::uint64_t number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

std::vector<std::int32_t> integers(const std::vector<std::byte>& bytes) {
  std::vector<std::int32_t> values(bytes.size() / sizeof(std::int32_t));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

/// One for each of HDF5's indices: B-trees of version 1, a single chunk, implicit, a fixed array,
/// an extensible array, a B-tree of version 2.
std::vector<Recipe> recipes_of_all_indices() {
  const hsize_t any = H5S_UNLIMITED;
  Recipe b_tree;
  Recipe single{.shape = {6, 5}, .chunk = {6, 5}, .version = H5F_LIBVER_LATEST};
  Recipe implicit{.version = H5F_LIBVER_LATEST, .allocated_early = true};
  Recipe fixed{.version = H5F_LIBVER_LATEST};
  Recipe extensible{.maximum = {any, 7, 13}, .version = H5F_LIBVER_LATEST};
  Recipe b_tree_2{.maximum = {any, any, 13}, .version = H5F_LIBVER_LATEST};
  return {b_tree, single, implicit, fixed, extensible, b_tree_2};
}

TEST_F(ChunkSourceTest, EveryIndexIsRead) {
  for (Recipe recipe : recipes_of_all_indices()) {
    for (const hsize_t user_block : user_blocks) {
      for (const auto& filters : {std::vector<H5Z_filter_t>{}, all_filters}) {
        recipe.user_block = user_block;
        recipe.filters = filters;
        make(recipe);
        EXPECT_EQ(info().path, filters.empty() ? ReadPath::direct : ReadPath::chunk);
        for (const std::uint64_t chunks_at_once : runs_of) {
          EXPECT_EQ(integers(read_by_chunks(info(), chunks_at_once)),
                    numbered(elements_of(recipe.shape)));
        }
        EXPECT_EQ(read_by_chunks(info(), 7), read_by_library(info()));
      }
    }
  }
}

TEST_F(ChunkSourceTest, PartialEdgeChunksMayBeUnfiltered) {
  for (Recipe recipe : recipes_of_all_indices()) {
    recipe.version = H5F_LIBVER_LATEST;
    recipe.filters = all_filters;
    recipe.partial_edges_filtered = false;
    make(recipe);
    EXPECT_FALSE(info().partial_edge_chunks_filtered);
    EXPECT_EQ(integers(read_by_chunks(info(), 5)), numbered(elements_of(recipe.shape)));
  }
}

TEST_F(ChunkSourceTest, FiltersMayBeSkippedChunkByChunk) {
  const Recipe recipe{.shape = {40}, .chunk = {8}, .filters = all_filters};
  make(recipe);
  const auto values = numbered(16);
  {
    const FileHandle file(H5Fopen(path("x.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const DatasetHandle dataset(H5Dopen2(file.get(), "x", H5P_DEFAULT));
    for (const hsize_t first : FileShape{0, 8}) {
      H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0b111, &first, 32, &values[first]);
    }
  }
  EXPECT_EQ(chunk(1).skipped_filters & 0b111U, 0b111U);
  EXPECT_EQ(chunk(2).skipped_filters, 0U);
  EXPECT_EQ(integers(read_by_chunks(info(), 3)), numbered(40));
}

TEST_F(ChunkSourceTest, UnwrittenChunksAreTheFillValue) {
  const std::int32_t fill = -5;
  for (const bool filtered : {false, true}) {
    for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
      Recipe recipe{.shape = {22, 6}, .chunk = {4, 4}, .version = version};
      if (filtered) recipe.filters = all_filters;
      const PropertiesHandle creation = creation_of(recipe);
      H5Pset_fill_value(creation.get(), H5T_NATIVE_INT32, &fill);
      {
        const FileHandle file = make_file(recipe);
        const DatasetHandle dataset = make_dataset(file.get(), recipe, creation.get());
        const FileShape start{8, 2};
        const FileShape count{5, 1};
        const SpaceHandle space(H5Dget_space(dataset.get()));
        H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, start.data(), nullptr, count.data(),
                            nullptr);
        const auto values = numbered(5);
        H5Dwrite(dataset.get(), H5T_NATIVE_INT32, simple_space(count).get(), space.get(),
                 H5P_DEFAULT, values.data());
      }
      std::vector<std::int32_t> expected(22 * 6, fill);
      for (std::size_t i = 0; i < 5; ++i) expected[(8 + i) * 6 + 2] = numbered(5)[i];
      EXPECT_EQ(integers(read_by_chunks(info(), 5)), expected);
      EXPECT_EQ(chunk(0), StoredChunk{});
      EXPECT_GT(chunk(4).bytes, 0U);
    }
  }
}

TEST_F(ChunkSourceTest, ADatasetNeverWrittenIsTheFillValue) {
  const std::int32_t fill = 77;
  for (const hsize_t user_block : user_blocks) {
    for (const H5F_libver_t version : {H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST}) {
      const Recipe recipe{.user_block = user_block, .version = version};
      const PropertiesHandle creation = creation_of(recipe);
      H5Pset_fill_value(creation.get(), H5T_NATIVE_INT32, &fill);
      make_dataset(make_file(recipe).get(), recipe, creation.get());
      EXPECT_EQ(integers(read_by_chunks(info(), 5)), std::vector<std::int32_t>(11 * 7 * 13, fill));
    }
  }
}

TEST_F(ChunkSourceTest, WithoutFillValuesUnwrittenElementsAreZero) {
  const std::int32_t fill = 77;
  const Recipe recipe;
  const PropertiesHandle never = creation_of(recipe);
  H5Pset_fill_value(never.get(), H5T_NATIVE_INT32, &fill);
  H5Pset_fill_time(never.get(), H5D_FILL_TIME_NEVER);
  const PropertiesHandle undefined = creation_of(recipe);
  H5Pset_fill_value(undefined.get(), H5T_NATIVE_INT32, nullptr);
  for (const hid_t creation : {never.get(), undefined.get()}) {
    make_dataset(make_file(recipe).get(), recipe, creation);
    EXPECT_EQ(integers(read_by_chunks(info(), 5)), std::vector<std::int32_t>(11 * 7 * 13, 0));
    EXPECT_EQ(read_by_chunks(info(), 5), read_by_library(info()));
  }
}

TEST_F(ChunkSourceTest, ChunksMayLieInAnyOrderWithOtherThingsBetweenThem) {
  const Recipe recipe{.shape = {100, 10}, .chunk = {10, 5}};
  {
    const FileHandle file = make_file(recipe);
    const DatasetHandle dataset = make_dataset(file.get(), recipe, creation_of(recipe).get());
    for (std::uint64_t i = 0; i < 20; ++i) {
      const std::uint64_t number = 7 * i % 20;
      const FileShape first{number / 2 * 10, number % 2 * 5};
      const std::vector<std::int32_t> values(50, static_cast<std::int32_t>(number));
      H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, first.data(), 200, values.data());
      const DatasetHandle other =
          create_dataset(file.get(), std::to_string(i), H5T_STD_I8LE, {1 + 11 * i});
      write_all(other.get(), H5T_NATIVE_INT8, std::vector<std::int8_t>(1 + 11 * i, -1));
    }
  }
  std::vector<std::int32_t> expected;
  for (int i = 0; i < 1000; ++i) expected.push_back(i / 100 * 2 + i % 10 / 5);
  for (const std::uint64_t chunks_at_once : runs_of) {
    EXPECT_EQ(integers(read_by_chunks(info(), chunks_at_once)), expected);
  }
}

TEST_F(ChunkSourceTest, ThreadsReadTheirPartsAtOnce) {
  const Recipe recipe{.shape = {4000}, .chunk = {10}, .filters = all_filters};
  make(recipe);
  const DatasetInfo described = info();
  const ChunkSource source(described, {100, 200});
  std::vector<std::vector<std::int32_t>> results(4);
  StageRegistry registry;
  {
    std::vector<std::jthread> threads;
    for (std::uint64_t i = 0; i < 4; ++i) {
      threads.emplace_back([&, i] {
        ChunkSource::Reader reader(source, registry);
        std::vector<std::byte> staging(source.staging_bytes(5));
        for (std::uint64_t first = 100 + 50 * i; first < 150 + 50 * i; first += 5) {
          for (const StagedChunk& each : reader.read({first, 5}, staging)) {
            const auto values = integers(chunk_elements(each, staging, described, 10));
            results[i].insert(results[i].end(), values.begin(), values.end());
          }
        }
      });
    }
  }
  std::vector<std::int32_t> all;
  for (const auto& result : results) all.insert(all.end(), result.begin(), result.end());
  const auto expected = numbered(4000);
  EXPECT_EQ(all, std::vector<std::int32_t>(expected.begin() + 1000, expected.begin() + 3000));
}

/// A grid of some chunks of 100 elements.
ChunkGrid part_of(const DatasetInfo& info, ChunkRun run) {
  return unmerged_grid(info.stored_shape, info.chunk_shape, {{run.first * 100, run.count * 100}});
}

/// Reads a run of chunks of 100 elements, which are numbered.
void expect_numbers_of(ChunkSource::Reader& reader, const DatasetInfo& described, ChunkRun run,
                       std::vector<std::byte>& memory) {
  std::vector<std::int32_t> found;
  for (const StagedChunk& each : reader.read_part(part_of(described, run), memory, true)) {
    const auto values = integers(chunk_elements(each, memory, described, 100));
    found.insert(found.end(), values.begin(), values.end());
  }
  const auto all = numbered(4000);
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(100 * run.first);
  EXPECT_EQ(found,
            std::vector<std::int32_t>(first, first + static_cast<std::ptrdiff_t>(100 * run.count)));
}

TEST_F(ChunkSourceTest, ChunksThatStayInMemoryAreNotDecodedAgain) {
  make({.shape = {4000}, .chunk = {100}, .filters = all_filters});
  const DatasetInfo described = info();
  const ChunkSource source(described, {0, 40});
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(6));
  std::vector<std::byte> elsewhere(staging.size());
  struct Call {
    ChunkRun run;           ///< run of the 40, side by side
    std::uint64_t decoded;  ///< chunks
    bool elsewhere = false;
  };
  const Call calls[] = {
      {{0, 4}, 4},       {{2, 6}, 4}, {{3, 2}, 0},  {{1, 6}, 4}, {{4, 5}, 2},
      {{4, 5}, 5, true}, {{4, 5}, 5}, {{38, 2}, 2}, {{34, 6}, 4}};  // clang-format off
  std::uint64_t decoded = 0;
  for (const Call& call : calls) {
    expect_numbers_of(reader, described, call.run, call.elsewhere ? elsewhere : staging);
    decoded += call.decoded;
    EXPECT_EQ(reader.timings()[1].bytes, 400 * decoded) << call.run.first;
  }
}

TEST_F(ChunkSourceTest, NorAreOthersReadAgainWhereAllAreThere) {
  make({.shape = {4000}, .chunk = {100}});
  const DatasetInfo described = info();
  const ChunkSource source(described, {0, 40});
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(6));
  struct Call {
    ChunkRun run;
    std::uint64_t read;  ///< chunks
  };
  const Call calls[] = {{{0, 4}, 4}, {{1, 2}, 0}, {{2, 1}, 0}, {{2, 2}, 2}, {{3, 1}, 0}, {{30, 6}, 6}};
  std::uint64_t read = 0;
  for (const Call& call : calls) {
    expect_numbers_of(reader, described, call.run, staging);
    read += call.read;
    EXPECT_EQ(reader.timings()[0].bytes, 400 * read) << call.run.first;
  }
}

TEST_F(ChunkSourceTest, TimingsCountStoredAndDecodedBytes) {
  make({.shape = {4000}, .chunk = {100}, .filters = all_filters});
  const ChunkSource source(info(), {0, 40});
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(40));
  reader.read({0, 40}, staging);
  const std::vector<StageTiming> timings = reader.timings();
  ASSERT_EQ(timings.size(), 2U);
  EXPECT_EQ(timings[0].stage, "read");
  EXPECT_GE(timings[0].bytes, info().stored_bytes);
  EXPECT_GT(timings[0].seconds, 0);
  EXPECT_EQ(timings[1].stage, "decompress");
  EXPECT_EQ(timings[1].bytes, 16000U);
  EXPECT_GT(timings[1].seconds, 0);
}

/// Reads all chunks and leaves them compressed, then inflates them by zlib. Returns each one's
/// bytes, and how they are encoded.
std::vector<std::pair<std::vector<std::byte>, ChunkEncoding>> left_compressed(
    const DatasetInfo& info) {
  const ChunkRun all{0, grid_of(info).chunks()};
  const ChunkSource source(info, all);
  EXPECT_TRUE(source.left_form());
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry, Compressed::left);
  std::vector<std::byte> staging(source.staging_bytes(all.count, Compressed::left));
  std::vector<std::pair<std::vector<std::byte>, ChunkEncoding>> chunks;
  for (const StagedChunk& chunk : reader.read(all, staging)) {
    std::vector<std::byte> bytes(chunk_bytes_of(info));
    if (chunk.compressed_bytes != 0) {
      uLongf made = bytes.size();
      EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(bytes.data()), &made,
                           reinterpret_cast<const Bytef*>(&staging[chunk.source]),
                           chunk.compressed_bytes),
                Z_OK);
      EXPECT_EQ(made, bytes.size());
    } else if (chunk.encoding != ChunkEncoding::unwritten) {
      std::memcpy(bytes.data(), &staging[chunk.source], bytes.size());
    }
    chunks.emplace_back(bytes, chunk.encoding);
  }
  EXPECT_EQ(reader.timings().size(), 1U);
  return chunks;
}

/// Reads all chunks one by one, all filters but a shuffle undone.
std::vector<std::pair<std::vector<std::byte>, ChunkEncoding>> decoded(const DatasetInfo& info) {
  const ChunkRun all{0, grid_of(info).chunks()};
  const ChunkSource source(info, all);
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(1));
  std::vector<std::pair<std::vector<std::byte>, ChunkEncoding>> chunks;
  for (std::uint64_t number = 0; number < all.count; ++number) {
    const StagedChunk chunk = reader.read({number, 1}, staging).front();
    std::vector<std::byte> bytes(chunk_bytes_of(info));
    if (chunk.encoding != ChunkEncoding::unwritten) {
      std::memcpy(bytes.data(), &staging[chunk.source], bytes.size());
      std::vector<std::byte> again(bytes.size());
      reader.read_one(chunk.number, again);
      EXPECT_EQ(again, bytes);
    }
    chunks.emplace_back(bytes, chunk.encoding);
  }
  return chunks;
}

const std::vector<std::vector<H5Z_filter_t>> filters_with_deflate_left{
    {H5Z_FILTER_DEFLATE},
    {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE},
    {H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32},
    {H5Z_FILTER_SHUFFLE, H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32},
    {H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32, H5Z_FILTER_FLETCHER32}};

TEST_F(ChunkSourceTest, CompressedChunksMayBeLeftSo) {
  for (const auto& filters : filters_with_deflate_left) {
    make({.filters = filters});
    EXPECT_EQ(left_compressed(info()), decoded(info()));
    make({.version = H5F_LIBVER_LATEST, .filters = filters, .partial_edges_filtered = false});
    EXPECT_EQ(left_compressed(info()), decoded(info()));
  }
}

TEST_F(ChunkSourceTest, OtherFiltersAroundADeflateAreUndone) {
  for (const std::vector<H5Z_filter_t>& filters :
       std::vector<std::vector<H5Z_filter_t>>{{},
                                              {H5Z_FILTER_SHUFFLE},
                                              {H5Z_FILTER_FLETCHER32},
                                              {H5Z_FILTER_DEFLATE, H5Z_FILTER_SHUFFLE},
                                              {H5Z_FILTER_FLETCHER32, H5Z_FILTER_DEFLATE},
                                              {H5Z_FILTER_DEFLATE, H5Z_FILTER_DEFLATE}}) {
    make({.filters = filters});
    EXPECT_FALSE(ChunkSource(info(), {0, grid_of(info()).chunks()}).left_form());
  }
}

TEST_F(ChunkSourceTest, ChecksumsOfChunksThatAreLeftCompressedAreVerified) {
  const Recipe recipe{
      .shape = {1000}, .chunk = {100}, .filters = {H5Z_FILTER_DEFLATE, H5Z_FILTER_FLETCHER32}};
  const auto refusal_of_left = [&] {
    return std::string(error_of([&] { left_compressed(info()); }).what());
  };
  make(recipe);
  overwrite(chunk(5).address + 10, "!");
  EXPECT_TRUE(contains(refusal_of_left(), "chunk [5] at byte ")) << refusal_of_left();
  EXPECT_TRUE(contains(refusal_of_left(), "checksum is wrong")) << refusal_of_left();
  EXPECT_EQ(refusal_of_left(), refusal());
  // A checksum and nothing before it.
  make(recipe);
  {
    const FileHandle file(H5Fopen(path("x.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const DatasetHandle dataset(H5Dopen2(file.get(), "x", H5P_DEFAULT));
    const hsize_t first = 300;
    const std::uint32_t checksum_of_nothing = 0;
    H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, &first, 4, &checksum_of_nothing);
  }
  EXPECT_TRUE(contains(refusal_of_left(), "chunk [3] at byte ")) << refusal_of_left();
  EXPECT_EQ(refusal_of_left(), refusal());
}

TEST_F(ChunkSourceTest, RunsAndStagingMemoryMustFit) {
  make({.shape = {4000}, .chunk = {100}});
  const ChunkSource source(info(), {10, 10});
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(5));
  EXPECT_THROW(reader.read({9, 2}, staging), Error);
  EXPECT_THROW(reader.read({18, 3}, staging), Error);
  EXPECT_THROW(reader.read({10, 6}, staging), Error);
  EXPECT_EQ(reader.read({15, 5}, staging).size(), 5U);
}

TEST_F(ChunkSourceTest, ADamagedDeflateStreamIsNamed) {
  make({.shape = {10, 60}, .chunk = {5, 20}, .filters = {H5Z_FILTER_DEFLATE}});
  const StoredChunk damaged = chunk(4);
  overwrite(damaged.address + 2, std::string(damaged.bytes - 2, '\xff'));
  const std::string message = refusal();
  EXPECT_TRUE(contains(message, "cannot read 'x' in '" + path("x.h5") + "'")) << message;
  EXPECT_TRUE(contains(message, "chunk [1, 1] at byte " + std::to_string(damaged.address) + " is unreadable; "))
      << message;
}

TEST_F(ChunkSourceTest, AWrongChecksumIsNamed) {
  make({.shape = {1000}, .chunk = {100}, .filters = {H5Z_FILTER_FLETCHER32}});
  overwrite(chunk(5).address + 10, "!");
  EXPECT_TRUE(contains(refusal(), "chunk [5] at byte ")) << refusal();
}

TEST_F(ChunkSourceTest, AChunkOfAnotherSizeIsNamed) {
  make({.shape = {300}, .chunk = {100}});
  // A key of the B-tree: the bytes of the chunk and the filters it skips.
  replace(as_bytes(400), as_bytes(392));
  EXPECT_TRUE(contains(refusal(), "chunk [0] at byte ")) << refusal();
  EXPECT_TRUE(contains(refusal(), "has 392 bytes where 400 belong")) << refusal();
}

TEST_F(ChunkSourceTest, AnAddressBeyondTheFileIsNamed) {
  for (const auto& filters : {std::vector<H5Z_filter_t>{}, all_filters}) {
    for (const std::uint64_t address : {std::uint64_t{1} << 20, std::uint64_t{1} << 60}) {
      make({.shape = {1000}, .chunk = {100}, .filters = filters});
      replace(as_bytes(chunk(7).address), as_bytes(address));
      EXPECT_TRUE(contains(refusal(), "chunk [7]")) << refusal();
    }
  }
}

TEST_F(ChunkSourceTest, ADamagedIndexIsNoUnwrittenChunk) {
  make({.shape = {1000}, .chunk = {1}});
  replace("TREE", "EERT");
  EXPECT_THROW(read_by_chunks(info(), 4), Error);
}

TEST_F(ChunkSourceTest, AFileThatGotShorterIsNamed) {
  make({.shape = {100000}, .chunk = {1000}});
  const ChunkSource source(info(), {0, 100});
  const std::uint64_t end = chunk(50).address + 100;
  std::filesystem::resize_file(path("x.h5"), end);
  StageRegistry registry;
  ChunkSource::Reader reader(source, registry);
  std::vector<std::byte> staging(source.staging_bytes(100));
  const std::string message = error_of([&] { reader.read({0, 100}, staging); }).what();
  EXPECT_TRUE(contains(message, "chunk [50] at byte ")) << message;
  EXPECT_TRUE(contains(message, "the file ends at byte " + std::to_string(end))) << message;
}

}  // namespace
}  // namespace warpfold::io
