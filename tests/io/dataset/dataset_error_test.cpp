#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

class OpenErrorTest : public Hdf5Test {
 protected:
  Error opening(const std::string& file, const std::string& name = "x") {
    const Error error = error_of([&] { Dataset(path(file), name); });
    EXPECT_EQ(error.exit_code(), ExitCode::failed);
    return error;
  }

  void expect_unopened(const std::string& file, const std::string& why) {
    const Error error = opening(file);
    EXPECT_EQ(error.problem(), "cannot open '" + path(file) + "'");
    EXPECT_TRUE(contains(error.why(), why)) << error.why();
    EXPECT_FALSE(error.suggestion().empty());
    EXPECT_EQ(error_of([&] { list_datasets(path(file)); }).why(), error.why());
  }

  /// A file "x.h5" with the one dataset "x" of 10,000 numbers.
  void make_simple_file(hid_t creation = H5P_DEFAULT) {
    const FileHandle file = create_file("x.h5");
    const DatasetHandle dataset = create_dataset(file.get(), "x", H5T_STD_I32LE, {10000}, creation);
    write_all(dataset.get(), H5T_NATIVE_INT32, numbered(10000));
  }
};

TEST_F(OpenErrorTest, NoSuchFile) {
  expect_unopened("none.h5", "no such file");
  EXPECT_EQ(std::string(opening("none.h5").what()),
            "cannot open '" + path("none.h5") + "': no such file. Check the path.");
}

TEST_F(OpenErrorTest, AFolder) {
  std::filesystem::create_directory(path("folder"));
  expect_unopened("folder", "it is a folder");
}

TEST_F(OpenErrorTest, NotARegularFile) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  expect_unopened("pipe", "not a regular file");
}

TEST_F(OpenErrorTest, NoPermission) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  make_simple_file();
  std::filesystem::permissions(path("x.h5"), std::filesystem::perms::none);
  expect_unopened("x.h5", "permission denied");
}

TEST_F(OpenErrorTest, NotHdf5) {
  write_text("text.h5", "a, b\n1, 2\n");
  expect_unopened("text.h5", "it is not an HDF5 file");
  write_text("empty.h5", "");
  expect_unopened("empty.h5", "the file is empty");
}

TEST_F(OpenErrorTest, Truncated) {
  make_simple_file();
  std::filesystem::resize_file(path("x.h5"), 4000);
  expect_unopened("x.h5", "the file is truncated");
}

TEST_F(OpenErrorTest, LockedByAWriter) {
  make_simple_file();
  const int descriptor = ::open(path("x.h5").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  ASSERT_EQ(::flock(descriptor, LOCK_EX | LOCK_NB), 0);
  const char* setting = std::getenv("HDF5_USE_FILE_LOCKING");
  if (setting == nullptr) expect_unopened("x.h5", "another program has it open for writing");
  ::close(descriptor);
}

TEST_F(OpenErrorTest, UnknownDatasetListsThoseThereAre) {
  make_simple_file();
  const Error error = opening("x.h5", "y");
  EXPECT_EQ(error.problem(), "cannot read 'y' in '" + path("x.h5") + "'");
  EXPECT_EQ(error.why(), "no such dataset; the file has 'x'");
  EXPECT_EQ(opening("x.h5", "").why(), "no such dataset; the file has 'x'");
  EXPECT_EQ(opening("x.h5", "no/such/group").why(), "no such dataset; the file has 'x'");
}

TEST_F(OpenErrorTest, UnknownDatasetListsNoMoreThanTen) {
  {
    const FileHandle file = create_file("x.h5");
    for (char letter = 'a'; letter < 'n'; ++letter) {
      create_dataset(file.get(), std::string(1, letter), H5T_STD_I32LE, {1});
    }
  }
  EXPECT_EQ(opening("x.h5", "zz").why(),
            "no such dataset; the file has 'a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', ... "
            "and 3 more");
}

TEST_F(OpenErrorTest, UnknownDatasetInAnEmptyFile) {
  create_file("x.h5");
  EXPECT_EQ(opening("x.h5").why(), "no such dataset; the file has no datasets");
}

TEST_F(OpenErrorTest, AGroup) {
  {
    const FileHandle file = create_file("x.h5");
    const Handle<H5Gclose> group(
        H5Gcreate2(file.get(), "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    create_dataset(group.get(), "inner", H5T_STD_I32LE, {1});
    H5Lcreate_soft("/nowhere", file.get(), "dangling", H5P_DEFAULT, H5P_DEFAULT);
    const TypeHandle type(H5Tcopy(H5T_STD_I32LE));
    H5Tcommit2(file.get(), "type", type.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  }
  EXPECT_EQ(opening("x.h5", "g").why(), "it is a group; the group has 'inner'");
  EXPECT_EQ(opening("x.h5", "type").why(), "it is a datatype");
  EXPECT_EQ(opening("x.h5", "dangling").why(),
            "it is a soft link to '/nowhere', which cannot be opened");
}

TEST_F(OpenErrorTest, UnsupportedType) {
  create_dataset(create_file("x.h5").get(), "x", H5T_STD_REF_OBJ, {1});
  const Error error = opening("x.h5");
  EXPECT_EQ(error.why(), "its type is object reference, which is not supported");
  EXPECT_TRUE(contains(error.suggestion(), "float32"));
}

/// Registers a filter, so that a file can be written with it, and takes it away again.
TEST_F(OpenErrorTest, MissingFilter) {
  constexpr H5Z_filter_t id = 32013;
  H5Z_class2_t filter{};
  filter.version = H5Z_CLASS_T_VERS;
  filter.id = id;
  filter.encoder_present = 1;
  filter.decoder_present = 1;
  filter.name = "";
  filter.filter = [](unsigned, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                     void**) { return bytes; };
  ASSERT_GE(H5Zregister(&filter), 0);
  const PropertiesHandle creation = dataset_creation();
  const hsize_t chunk = 1000;
  H5Pset_chunk(creation.get(), 1, &chunk);
  H5Pset_filter(creation.get(), id, 0, 0, nullptr);
  make_simple_file(creation.get());
  ASSERT_GE(H5Zunregister(id), 0);
  const Error error = opening("x.h5");
  EXPECT_EQ(error.why(), "this HDF5 has no filter zfp (id 32013)");
  EXPECT_TRUE(contains(error.suggestion(), "HDF5_PLUGIN_PATH"));
}

TEST_F(OpenErrorTest, NothingIsPrinted) {
  write_text("text.h5", "no HDF5");
  ::testing::internal::CaptureStderr();
  opening("text.h5");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST_F(OpenErrorTest, MissingExternalStorage) {
  const PropertiesHandle creation = dataset_creation();
  H5Pset_external(creation.get(), path("gone.raw").c_str(), 0, H5F_UNLIMITED);
  make_simple_file(creation.get());
  std::filesystem::remove(path("gone.raw"));
  const Error error = error_of([&] { Dataset(path("x.h5"), "x"); });
  EXPECT_TRUE(contains(error.why(), "gone.raw")) << error.why();
}

class ListingTest : public Hdf5Test {};

TEST_F(ListingTest, NamesEveryDatasetInTheOrderOfItsPath) {
  {
    const FileHandle file = create_file("x.h5");
    const PropertiesHandle links(H5Pcreate(H5P_LINK_CREATE));
    H5Pset_create_intermediate_group(links.get(), 1);
    for (const char* name : {"b", "a/z", "a/b/c"}) {
      const DatasetHandle dataset(H5Dcreate2(file.get(), name, H5T_IEEE_F32BE,
                                             simple_space({2, 3}).get(), links.get(), H5P_DEFAULT,
                                             H5P_DEFAULT));
    }
    create_dataset(file.get(), "c", H5T_STD_REF_OBJ, {4});
  }
  const auto listing = list_datasets(path("x.h5"));
  ASSERT_EQ(listing.size(), 4U);
  EXPECT_EQ(listing[0].name, "a/b/c");
  EXPECT_EQ(listing[0].stored_type, "float32 big-endian");
  EXPECT_EQ(listing[0].shape, (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(listing[0].unsupported, "");
  EXPECT_EQ(listing[1].name, "a/z");
  EXPECT_EQ(listing[2].name, "b");
  EXPECT_EQ(listing[3].name, "c");
  EXPECT_EQ(listing[3].stored_type, "object reference");
  EXPECT_EQ(listing[3].unsupported, "its type is object reference, which is not supported");
}

}  // namespace
}  // namespace warpfold::io
