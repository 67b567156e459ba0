#include "io/chunks/chunk_reading.hpp"
#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

PropertiesHandle chunked_by(hsize_t chunk) {
  PropertiesHandle creation = dataset_creation();
  H5Pset_chunk(creation.get(), 1, &chunk);
  return creation;
}

PropertiesHandle with_filter(H5Z_filter_t filter, const std::vector<unsigned>& parameters) {
  PropertiesHandle creation = chunked_by(10);
  H5Pset_filter(creation.get(), filter, H5Z_FLAG_OPTIONAL, parameters.size(), parameters.data());
  return creation;
}

class PathTest : public Hdf5Test {
 protected:
  void make(hid_t creation, hid_t type = H5T_STD_I32LE) const {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset = create_dataset(file.get(), "x", type, {40}, creation);
    write_all(dataset.get(), H5T_NATIVE_INT32, numbered(40));
  }

  DatasetInfo info(ReadPath path = ReadPath::automatic) const {
    return Dataset(this->path("x.h5"), "x", path).info();
  }

  void expect_library(const std::string& reason) const {
    EXPECT_EQ(info().path, ReadPath::library);
    EXPECT_EQ(info().path_reason, reason);
    EXPECT_EQ(error_of([&] { info(ReadPath::direct); }).why(),
              reason + ", so the path 'direct' is not open to it");
    EXPECT_EQ(error_of([&] { info(ReadPath::chunk); }).exit_code(), ExitCode::usage);
  }
};

TEST_F(PathTest, ContiguousElementsAreReadDirectly) {
  make(H5P_DEFAULT);
  EXPECT_EQ(info().path, ReadPath::direct);
  EXPECT_EQ(info().path_reason, "");
  EXPECT_EQ(info(ReadPath::direct).path, ReadPath::direct);
  EXPECT_EQ(info(ReadPath::library).path, ReadPath::library);
  EXPECT_TRUE(contains(error_of([&] { info(ReadPath::chunk); }).why(), "it has no chunks"));
}

TEST_F(PathTest, ChunksWithoutFiltersAreReadDirectly) {
  make(chunked_by(7).get());
  EXPECT_EQ(info().path, ReadPath::direct);
  EXPECT_TRUE(contains(error_of([&] { info(ReadPath::chunk); }).why(), "no filters"));
  EXPECT_EQ(read_by_chunks(info(), 2), read_by_library(info()));
}

TEST_F(PathTest, FilteredChunksAreReadAsChunks) {
  const PropertiesHandle creation = chunked_by(7);
  H5Pset_deflate(creation.get(), 1);
  make(creation.get());
  EXPECT_EQ(info().path, ReadPath::chunk);
  EXPECT_EQ(info().filters[0].parameters, std::vector<unsigned>{1});
  EXPECT_TRUE(contains(error_of([&] { info(ReadPath::direct); }).why(), "are filtered"));
}

TEST_F(PathTest, FiltersOfTheLibraryAloneAreLeftToIt) {
  const PropertiesHandle creation = chunked_by(7);
  constexpr H5Z_filter_t id = 300;
  const auto leave = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                        void**) { return bytes; };
  const H5Z_class2_t idle{H5Z_CLASS_T_VERS, id, 1, 1, "idle", nullptr, nullptr, leave};
  ASSERT_GE(H5Zregister(&idle), 0);
  H5Pset_filter(creation.get(), id, H5Z_FLAG_MANDATORY, 0, nullptr);
  make(creation.get());
  expect_library("warpfold cannot undo idle");
  H5Zunregister(id);
}

TEST_F(PathTest, CompactElementsAreLeftToTheLibrary) {
  const PropertiesHandle creation = dataset_creation();
  H5Pset_layout(creation.get(), H5D_COMPACT);
  make(creation.get());
  expect_library("its elements lie in the object's header");
}

TEST_F(PathTest, ExternalElementsAreLeftToTheLibrary) {
  const PropertiesHandle creation = dataset_creation();
  H5Pset_external(creation.get(), path("x.raw").c_str(), 0, H5F_UNLIMITED);
  make(creation.get());
  expect_library("its elements lie in other files");
}

TEST_F(PathTest, VirtualElementsOfAPartOfASourceAreLeftToTheLibrary) {
  make(H5P_DEFAULT);
  std::filesystem::rename(path("x.h5"), path("source.h5"));
  const PropertiesHandle creation = dataset_creation();
  const SpaceHandle source = simple_space({40});
  const hsize_t start = 3, count = 20;
  H5Sselect_hyperslab(source.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  H5Pset_virtual(creation.get(), simple_space({count}).get(), path("source.h5").c_str(), "x",
                 source.get());
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, {count}, creation.get());
  expect_library("its elements are those of other datasets");
}

TEST_F(PathTest, NarrowIntegersAreLeftToTheLibrary) {
  const TypeHandle narrow(H5Tcopy(H5T_STD_I32LE));
  H5Tset_precision(narrow.get(), 20);
  for (const bool in_chunks : {false, true}) {
    const PropertiesHandle creation = in_chunks ? chunked_by(7) : dataset_creation();
    make(creation.get(), narrow.get());
    expect_library("HDF5 has to convert its elements");
  }
}

TEST_F(PathTest, DatasetsWithoutStorageAreLeftToTheLibrary) {
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, {40});
  expect_library("nothing was ever written, so all elements are the fill value");
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, {0});
  expect_library("it has no elements");
}

TEST_F(PathTest, AFilterThatTheLibraryLacksIsUndoneForIt) {
  constexpr H5Z_filter_t lz4 = 32004;
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, {40}, with_filter(lz4, {}).get());
  const DatasetInfo described = info();
  if (described.path == ReadPath::library) GTEST_SKIP() << "this build has no lz4";
  EXPECT_EQ(described.path, ReadPath::chunk);
  EXPECT_TRUE(described.filters[0].available);
  EXPECT_GT(H5Zfilter_avail(lz4), 0);
}

TEST_F(PathTest, AllParametersOfAFilterAreKnown) {
  const std::vector<unsigned> parameters{1, 2, 3, 4, 5, 6, 7, 8, 9};
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, {40},
                 with_filter(32008, parameters).get());
  EXPECT_EQ(info().filters[0].parameters, parameters);
}

TEST_F(PathTest, TheFillValueIsThatOfTheFile) {
  const std::int32_t fill = 0x01020304;
  const PropertiesHandle creation = chunked_by(7);
  H5Pset_fill_value(creation.get(), H5T_NATIVE_INT32, &fill);
  make(creation.get(), H5T_STD_I32BE);
  const std::array<std::byte, 8> expected{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  EXPECT_EQ(info().fill, expected);
}

TEST_F(PathTest, AnotherProcessesDescriptionOpensTheSame) {
  for (const bool in_chunks : {false, true}) {
    const PropertiesHandle creation = in_chunks ? chunked_by(7) : dataset_creation();
    make(creation.get());
    for (const ReadPath path : {ReadPath::direct, ReadPath::library}) {
      Dataset dataset(info(path));
      EXPECT_EQ(dataset.info().path, path);
      std::vector<std::int32_t> values(40);
      dataset.read({0, 40}, std::as_writable_bytes(std::span(values)));
      EXPECT_EQ(values, numbered(40));
    }
  }
}

class UnchangedTest : public PathTest {
 protected:
  void append(const std::string& text) const {
    std::ofstream(path("x.h5"), std::ios::binary | std::ios::app) << text;
  }
};

TEST_F(UnchangedTest, AFileAtRestIsUnchanged) {
  make(H5P_DEFAULT);
  const Dataset dataset(path("x.h5"), "x");
  EXPECT_NO_THROW(dataset.require_unchanged());
}

TEST_F(UnchangedTest, WritingIsNoticed) {
  make(H5P_DEFAULT);
  const Dataset dataset(path("x.h5"), "x");
  append("more");
  const Error error = error_of([&] { dataset.require_unchanged(); });
  EXPECT_EQ(error.problem(), "cannot read 'x' in '" + path("x.h5") + "'");
  EXPECT_EQ(error.why(), "the file changed while it was read");
}

TEST_F(UnchangedTest, WritingWithoutGrowthIsNoticed) {
  make(H5P_DEFAULT);
  const Dataset dataset(path("x.h5"), "x");
  const auto now = std::filesystem::last_write_time(path("x.h5"));
  std::filesystem::last_write_time(path("x.h5"), now + std::chrono::milliseconds(1));
  EXPECT_THROW(dataset.require_unchanged(), Error);
}

TEST_F(UnchangedTest, AnotherFileOfThatNameIsNoticed) {
  make(H5P_DEFAULT);
  const Dataset dataset(path("x.h5"), "x");
  std::filesystem::copy_file(path("x.h5"), path("y.h5"));
  std::filesystem::last_write_time(path("y.h5"), std::filesystem::last_write_time(path("x.h5")));
  std::filesystem::rename(path("y.h5"), path("x.h5"));
  EXPECT_THROW(dataset.require_unchanged(), Error);
  std::filesystem::remove(path("x.h5"));
  EXPECT_THROW(dataset.require_unchanged(), Error);
}

}  // namespace
}  // namespace warpfold::io
