#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

constexpr std::size_t source_elements = 20;

class VirtualTest : public Hdf5Test {
 protected:
  void make_source(const std::string& file, std::size_t elements = source_elements) {
    const FileHandle handle = create_file(file);
    const DatasetHandle dataset = create_dataset(handle.get(), "part", H5T_STD_I32LE, {elements});
    write_all(dataset.get(), H5T_NATIVE_INT32, numbered(elements));
  }

  void add_mapping(hid_t creation, const std::string& file, const std::string& dataset,
                   hsize_t start, hsize_t total) {
    const hsize_t count = source_elements;
    const SpaceHandle space = simple_space({total});
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    ASSERT_GE(H5Pset_virtual(creation, space.get(), file.c_str(), dataset.c_str(),
                             simple_space({count}).get()),
              0);
  }

  /// "v.h5" with the virtual dataset "x" of the parts in "a.h5" and "b.h5".
  void make_virtual() {
    const PropertiesHandle creation = dataset_creation();
    add_mapping(creation.get(), "a.h5", "part", 0, 2 * source_elements);
    add_mapping(creation.get(), "b.h5", "/part", source_elements, 2 * source_elements);
    create_dataset(create_file("v.h5").get(), "x", H5T_STD_I32LE, {2 * source_elements},
                   creation.get());
  }

  static std::vector<std::int32_t> elements_of(Dataset dataset) {
    std::vector<std::int32_t> values(dataset.info().elements);
    dataset.read({0, values.size()}, std::as_writable_bytes(std::span(values)));
    return values;
  }

  /// Expects that the same elements are found without HDF5, where that is possible, and by it.
  std::vector<std::int32_t> read(const std::string& file, const std::string& name = "x") {
    const std::vector<std::int32_t> values = elements_of(Dataset(path(file), name));
    Dataset by_library(path(file), name, ReadPath::library);
    EXPECT_EQ(by_library.info().layout, Layout::virtual_);
    EXPECT_EQ(values, elements_of(std::move(by_library)));
    return values;
  }

  Error refusal(const std::string& file, const std::string& name = "x") {
    return error_of([&] { Dataset(path(file), name); });
  }
};

std::vector<std::int32_t> both_parts() {
  std::vector<std::int32_t> values = numbered(source_elements);
  const auto second = numbered(source_elements);
  values.insert(values.end(), second.begin(), second.end());
  return values;
}

TEST_F(VirtualTest, ReadsItsSources) {
  make_source("a.h5");
  make_source("b.h5");
  make_virtual();
  EXPECT_EQ(read("v.h5"), both_parts());
  EXPECT_EQ(Dataset(path("v.h5"), "x").info().path, ReadPath::direct);
}

TEST_F(VirtualTest, ReadsThroughALinkFromAnotherFolder) {
  make_source("a.h5");
  make_source("b.h5");
  make_virtual();
  std::filesystem::create_directory(path("elsewhere"));
  std::filesystem::create_symlink(path("v.h5"), path("elsewhere/v.h5"));
  EXPECT_EQ(read("elsewhere/v.h5"), both_parts());
}

TEST_F(VirtualTest, ReadsSourcesInItsOwnFileAndVirtualOnes) {
  make_source("a.h5");
  make_source("b.h5");
  make_virtual();
  {
    const FileHandle file(H5Fopen(path("v.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    const PropertiesHandle creation = dataset_creation();
    const SpaceHandle whole = simple_space({2 * source_elements});
    ASSERT_GE(H5Pset_virtual(creation.get(), whole.get(), ".", "x", whole.get()), 0);
    create_dataset(file.get(), "again", H5T_STD_I32LE, {2 * source_elements}, creation.get());
  }
  EXPECT_EQ(read("v.h5", "again"), both_parts());
  std::filesystem::remove(path("b.h5"));
  EXPECT_TRUE(contains(refusal("v.h5", "again").why(), "'b.h5'"));
}

TEST_F(VirtualTest, RefusesAMissingSourceFile) {
  make_source("a.h5");
  make_virtual();
  const Error error = refusal("v.h5");
  EXPECT_EQ(error.problem(), "cannot read 'x' in '" + path("v.h5") + "'");
  EXPECT_EQ(error.why(), "the source file 'b.h5' of this virtual dataset is missing");
}

TEST_F(VirtualTest, RefusesAnUnreadableSourceFile) {
  make_source("a.h5");
  make_virtual();
  write_text("b.h5", "not HDF5");
  EXPECT_EQ(refusal("v.h5").why(),
            "the source file 'b.h5' of this virtual dataset cannot be opened (it is not an "
            "HDF5 file)");
}

TEST_F(VirtualTest, RefusesAMissingSourceDataset) {
  make_source("a.h5");
  create_file("b.h5");
  make_virtual();
  EXPECT_EQ(refusal("v.h5").why(),
            "the source '/part' of this virtual dataset is missing in '" + path("b.h5") + "'");
}

TEST_F(VirtualTest, RefusesMappingsOntoItself) {
  const PropertiesHandle creation = dataset_creation();
  const SpaceHandle whole = simple_space({5});
  ASSERT_GE(H5Pset_virtual(creation.get(), whole.get(), "v.h5", "x", whole.get()), 0);
  create_dataset(create_file("v.h5").get(), "x", H5T_STD_I32LE, {5}, creation.get());
  EXPECT_TRUE(contains(refusal("v.h5").why(), "refer to each other"));
}

TEST_F(VirtualTest, RefusesASourceThatShrank) {
  make_source("a.h5");
  make_source("b.h5", 10);
  const PropertiesHandle creation = dataset_creation();
  const hsize_t start = 5;
  const hsize_t count = 10;
  const SpaceHandle selected = simple_space({source_elements});
  H5Sselect_hyperslab(selected.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
  ASSERT_GE(
      H5Pset_virtual(creation.get(), simple_space({10}).get(), "b.h5", "part", selected.get()), 0);
  create_dataset(create_file("v.h5").get(), "x", H5T_STD_I32LE, {10}, creation.get());
  EXPECT_TRUE(contains(refusal("v.h5").why(), "changed its shape")) << refusal("v.h5").why();
}

TEST_F(VirtualTest, RefusesSourcesCountedByAPattern) {
  make_source("p-0.h5");
  const hsize_t zero = 0;
  const hsize_t stride = source_elements;
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t extent = source_elements;
  const SpaceHandle space(H5Screate_simple(1, &extent, &unlimited));
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &zero, &stride, &unlimited, &stride);
  const PropertiesHandle creation = dataset_creation();
  ASSERT_GE(
      H5Pset_virtual(creation.get(), space.get(), "p-%b.h5", "part", simple_space({extent}).get()),
      0);
  create_dataset_in(create_file("v.h5").get(), "x", H5T_STD_I32LE, space, creation.get());
  const Error error = refusal("v.h5");
  EXPECT_TRUE(contains(error.why(), "p-%b.h5")) << error.why();
}

TEST_F(VirtualTest, ReadsGrowingSources) {
  const hsize_t unlimited = H5S_UNLIMITED;
  const hsize_t zero = 0;
  const hsize_t one = 1;
  const hsize_t extent = source_elements;
  const SpaceHandle space(H5Screate_simple(1, &extent, &unlimited));
  {
    const FileHandle file = create_file("a.h5");
    const PropertiesHandle creation = dataset_creation();
    const hsize_t chunk = 8;
    H5Pset_chunk(creation.get(), 1, &chunk);
    write_all(create_dataset_in(file.get(), "part", H5T_STD_I32LE, space, creation.get()).get(),
              H5T_NATIVE_INT32, numbered(source_elements));
  }
  H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &zero, nullptr, &unlimited, &one);
  const PropertiesHandle creation = dataset_creation();
  ASSERT_GE(H5Pset_virtual(creation.get(), space.get(), "a.h5", "part", space.get()), 0);
  create_dataset_in(create_file("v.h5").get(), "x", H5T_STD_I32LE, space, creation.get());
  EXPECT_EQ(read("v.h5"), numbered(source_elements));
  std::filesystem::remove(path("a.h5"));
  EXPECT_TRUE(contains(refusal("v.h5").why(), "'a.h5'"));
}

}  // namespace
}  // namespace warpfold::io
