#include <algorithm>
#include <thread>

#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

class ReadTest : public Hdf5Test {
 protected:
  std::vector<std::int32_t> read(Dataset& dataset, ElementRange range) {
    std::vector<std::int32_t> values(range.count, -1);
    dataset.read(range, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Reads int32 ranges of many sizes by both paths and compares with `expected`.
  void expect_values(const std::string& file, const std::string& name,
                     const std::vector<std::int32_t>& expected) {
    for (const ReadPath read_path : {ReadPath::automatic, ReadPath::library}) {
      Dataset dataset(path(file), name, read_path);
      ASSERT_EQ(dataset.info().elements, expected.size());
      const std::uint64_t elements = expected.size();
      for (const std::uint64_t first : {std::uint64_t{0}, elements / 7, elements / 2, elements}) {
        for (const std::uint64_t wanted :
             {std::uint64_t{0}, std::uint64_t{1}, elements / 5, elements}) {
          const std::uint64_t count = std::min(wanted, elements - first);
          const auto begin = expected.begin() + static_cast<std::ptrdiff_t>(first);
          EXPECT_EQ(read(dataset, {first, count}),
                    std::vector<std::int32_t>(begin, begin + static_cast<std::ptrdiff_t>(count)))
              << first << " " << count;
        }
      }
    }
  }

  void write_dataset(hid_t file, const std::vector<hsize_t>& shape, hid_t creation,
                     const std::vector<std::int32_t>& values) {
    const DatasetHandle dataset = create_dataset(file, "x", H5T_STD_I32LE, shape, creation);
    write_all(dataset.get(), H5T_NATIVE_INT32, values);
  }
};

const std::vector<hsize_t> shape{11, 7, 13};
constexpr std::size_t elements = 11 * 7 * 13;

PropertiesHandle chunked(const std::vector<hsize_t>& chunk) {
  PropertiesHandle creation = dataset_creation();
  H5Pset_chunk(creation.get(), static_cast<int>(chunk.size()), chunk.data());
  return creation;
}

TEST_F(ReadTest, Contiguous) {
  write_dataset(create_file("x.h5").get(), shape, H5P_DEFAULT, numbered(elements));
  const Dataset dataset(path("x.h5"), "/x");
  EXPECT_EQ(dataset.info().layout, Layout::contiguous);
  EXPECT_EQ(dataset.info().shape, (std::vector<std::uint64_t>{11, 7, 13}));
  EXPECT_EQ(dataset.info().stored_bytes, 4 * elements);
  EXPECT_TRUE(dataset.info().file_offset.has_value());
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, Chunked) {
  write_dataset(create_file("x.h5").get(), shape, chunked({4, 3, 5}).get(), numbered(elements));
  const Dataset dataset(path("x.h5"), "x");
  EXPECT_EQ(dataset.info().layout, Layout::chunked);
  EXPECT_EQ(dataset.info().chunk_shape, (std::vector<std::uint64_t>{4, 3, 5}));
  EXPECT_EQ(dataset.info().file_offset, std::nullopt);
  EXPECT_TRUE(dataset.info().filters.empty());
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, Filtered) {
  const PropertiesHandle creation = chunked({4, 3, 5});
  H5Pset_shuffle(creation.get());
  H5Pset_deflate(creation.get(), 4);
  H5Pset_fletcher32(creation.get());
  write_dataset(create_file("x.h5").get(), shape, creation.get(), numbered(elements));
  const Dataset dataset(path("x.h5"), "x");
  const auto& filters = dataset.info().filters;
  ASSERT_EQ(filters.size(), 3U);
  EXPECT_EQ(filters[0].name, "shuffle");
  EXPECT_EQ(filters[1].name, "deflate");
  EXPECT_EQ(filters[1].id, H5Z_FILTER_DEFLATE);
  EXPECT_EQ(filters[2].name, "fletcher32");
  EXPECT_TRUE(filters[0].available && filters[1].available && filters[2].available);
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, Compact) {
  const PropertiesHandle creation = dataset_creation();
  H5Pset_layout(creation.get(), H5D_COMPACT);
  write_dataset(create_file("x.h5").get(), shape, creation.get(), numbered(elements));
  EXPECT_EQ(Dataset(path("x.h5"), "x").info().layout, Layout::compact);
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, External) {
  const PropertiesHandle creation = dataset_creation();
  H5Pset_external(creation.get(), path("a.raw").c_str(), 16, 4 * 500);
  H5Pset_external(creation.get(), path("b.raw").c_str(), 0, H5F_UNLIMITED);
  write_dataset(create_file("x.h5").get(), shape, creation.get(), numbered(elements));
  const Dataset dataset(path("x.h5"), "x");
  EXPECT_EQ(dataset.info().layout, Layout::external);
  EXPECT_EQ(dataset.info().file_offset, std::nullopt);
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, BehindAUserBlock) {
  write_dataset(create_file("x.h5", 2048).get(), shape, H5P_DEFAULT, numbered(elements));
  EXPECT_GE(Dataset(path("x.h5"), "x").info().file_offset.value(), 2048U);
  expect_values("x.h5", "x", numbered(elements));
}

TEST_F(ReadTest, UnallocatedIsTheFillValue) {
  const std::int32_t fill = -77;
  for (const hsize_t user_block : {hsize_t{0}, hsize_t{512}}) {
    const PropertiesHandle creation = dataset_creation();
    H5Pset_fill_value(creation.get(), H5T_NATIVE_INT32, &fill);
    create_dataset(create_file("x.h5", user_block).get(), "x", H5T_STD_I32LE, shape,
                   creation.get());
    EXPECT_EQ(Dataset(path("x.h5"), "x").info().file_offset, std::nullopt);
    EXPECT_EQ(Dataset(path("x.h5"), "x").info().stored_bytes, 0U);
    expect_values("x.h5", "x", std::vector<std::int32_t>(elements, fill));
  }
}

TEST_F(ReadTest, UnallocatedWithoutFillValueIsZero) {
  for (const bool in_chunks : {false, true}) {
    const PropertiesHandle creation = in_chunks ? chunked({4, 3, 5}) : dataset_creation();
    H5Pset_fill_time(creation.get(), H5D_FILL_TIME_NEVER);
    create_dataset(create_file("x.h5").get(), "x", H5T_STD_I32LE, shape, creation.get());
    expect_values("x.h5", "x", std::vector<std::int32_t>(elements, 0));
  }
}

TEST_F(ReadTest, UnallocatedChunksAreTheFillValue) {
  const std::int32_t fill = 5;
  const PropertiesHandle creation = chunked({4});
  H5Pset_deflate(creation.get(), 1);
  H5Pset_fill_value(creation.get(), H5T_NATIVE_INT32, &fill);
  {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset =
        create_dataset(file.get(), "x", H5T_STD_I32LE, {22}, creation.get());
    const hsize_t start = 8;
    const hsize_t count = 4;
    const SpaceHandle space(H5Dget_space(dataset.get()));
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    const auto values = numbered(4);
    H5Dwrite(dataset.get(), H5T_NATIVE_INT32, simple_space({4}).get(), space.get(), H5P_DEFAULT,
             values.data());
  }
  std::vector<std::int32_t> expected(22, fill);
  const auto values = numbered(4);
  std::copy(values.begin(), values.end(), expected.begin() + 8);
  expect_values("x.h5", "x", expected);
}

TEST_F(ReadTest, ScalarNullAndEmpty) {
  {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle scalar = create_dataset(file.get(), "scalar", H5T_STD_I32LE, {});
    write_all(scalar.get(), H5T_NATIVE_INT32, std::vector<std::int32_t>{42});
    create_dataset(file.get(), "empty", H5T_STD_I32LE, {3, 0, 5});
    create_dataset_in(file.get(), "null", H5T_STD_I32LE, SpaceHandle(H5Screate(H5S_NULL)));
  }
  expect_values("x.h5", "scalar", {42});
  expect_values("x.h5", "empty", {});
  expect_values("x.h5", "null", {});
  EXPECT_TRUE(Dataset(path("x.h5"), "scalar").info().shape.empty());
  EXPECT_EQ(Dataset(path("x.h5"), "empty").info().shape, (std::vector<std::uint64_t>{3, 0, 5}));
  EXPECT_EQ(Dataset(path("x.h5"), "null").info().elements, 0U);
}

TEST_F(ReadTest, TheFilesByteOrderIsKept) {
  const auto values = numbered(50);
  {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset = create_dataset(file.get(), "x", H5T_STD_I32BE, {50});
    write_all(dataset.get(), H5T_NATIVE_INT32, values);
  }
  for (const ReadPath read_path : {ReadPath::automatic, ReadPath::library}) {
    Dataset dataset(path("x.h5"), "x", read_path);
    EXPECT_EQ(dataset.info().format.order, ByteOrder::big);
    std::vector<std::int32_t> swapped = read(dataset, {0, 50});
    for (std::int32_t& value : swapped) {
      value = static_cast<std::int32_t>(__builtin_bswap32(static_cast<std::uint32_t>(value)));
    }
    EXPECT_EQ(swapped, values);
  }
}

TEST_F(ReadTest, EnumerationsAreReadAsStored) {
  const TypeHandle type(H5Tenum_create(H5T_STD_I32LE));
  const std::int32_t seven = 7;
  H5Tenum_insert(type.get(), "SEVEN", &seven);
  const std::vector<std::int32_t> values{7, 7, 1234, -1};
  {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset =
        create_dataset(file.get(), "x", type.get(), {4}, chunked({3}).get());
    write_all(dataset.get(), type.get(), values);
  }
  expect_values("x.h5", "x", values);
}

TEST_F(ReadTest, MovedDatasetsStillRead) {
  write_dataset(create_file("x.h5").get(), {10}, H5P_DEFAULT, numbered(10));
  Dataset first(path("x.h5"), "x");
  Dataset second = std::move(first);
  EXPECT_EQ(read(second, {0, 10}), numbered(10));
  Dataset third(path("x.h5"), "x", ReadPath::library);
  third = std::move(second);
  EXPECT_EQ(read(third, {2, 1}), std::vector<std::int32_t>{17});
}

TEST_F(ReadTest, ThreadsMayReadWithADatasetEach) {
  const PropertiesHandle creation = chunked({4, 3, 5});
  H5Pset_deflate(creation.get(), 1);
  write_dataset(create_file("x.h5").get(), shape, creation.get(), numbered(elements));
  std::vector<std::vector<std::int32_t>> results(4);
  {
    std::vector<std::jthread> threads;
    for (auto& result : results) {
      threads.emplace_back([&] {
        for (int repetition = 0; repetition < 20; ++repetition) {
          Dataset dataset(path("x.h5"), "x");
          result = read(dataset, {0, elements});
        }
      });
    }
  }
  for (const auto& result : results) EXPECT_EQ(result, numbered(elements));
}

TEST_F(ReadTest, RangesAndBuffersMustFit) {
  write_dataset(create_file("x.h5").get(), {10}, H5P_DEFAULT, numbered(10));
  Dataset dataset(path("x.h5"), "x");
  std::vector<std::byte> buffer(16);
  EXPECT_THROW(dataset.read({7, 4}, buffer), Error);
  EXPECT_THROW(dataset.read({~std::uint64_t{0}, 4}, buffer), Error);
  EXPECT_THROW(dataset.read({0, 3}, buffer), Error);
  EXPECT_NO_THROW(dataset.read({6, 4}, buffer));
}

TEST_F(ReadTest, AFileThatGotShorterIsNamed) {
  write_dataset(create_file("x.h5").get(), {100000}, H5P_DEFAULT, numbered(100000));
  Dataset dataset(path("x.h5"), "x");
  std::filesystem::resize_file(path("x.h5"), 100000);
  const Error error = error_of([&] { read(dataset, {0, 100000}); });
  EXPECT_EQ(error.problem(), "cannot read 'x' in '" + path("x.h5") + "'");
  EXPECT_TRUE(contains(error.why(), "the file ends at byte 100000")) << error.why();
}

TEST_F(ReadTest, CorruptChunksAreReported) {
  const PropertiesHandle creation = chunked({100});
  H5Pset_fletcher32(creation.get());
  write_dataset(create_file("x.h5").get(), {1000}, creation.get(), numbered(1000));
  haddr_t address = 0;
  {
    const FileHandle file(H5Fopen(path("x.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
    const DatasetHandle dataset(H5Dopen2(file.get(), "x", H5P_DEFAULT));
    const hsize_t origin = 500;
    unsigned mask = 0;
    hsize_t size = 0;
    ASSERT_GE(H5Dget_chunk_info_by_coord(dataset.get(), &origin, &mask, &address, &size), 0);
  }
  {
    std::fstream file(path("x.h5"), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(address) + 10);
    file.put('!');
  }
  Dataset dataset(path("x.h5"), "x");
  EXPECT_EQ(read(dataset, {0, 500}).size(), 500U);
  const Error error = error_of([&] { read(dataset, {450, 100}); });
  EXPECT_TRUE(contains(error.why(), "HDF5 failed (")) << error.why();
}

}  // namespace
}  // namespace warpfold::io
