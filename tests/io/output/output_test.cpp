#include "io/output/output.hpp"

#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <csignal>

#include "io/dataset/dataset.hpp"
#include "io/hdf5/hdf5_fixture.hpp"
#include "io/output/chunk_writing.hpp"

namespace warpfold::io {
namespace {

constexpr ElementFormat i32{ElementType::i32, native_byte_order};

class OutputTest : public Hdf5Test {
 protected:
  OutputSpec spec(std::vector<std::uint64_t> shape = {10, 10}) const {
    OutputSpec made;
    made.path = path("out.h5");
    made.dataset = "group/x";
    made.shape = std::move(shape);
    made.format = i32;
    return made;
  }

  std::vector<std::int32_t> read(const std::string& file, const std::string& name,
                                 ReadPath read_path = ReadPath::library) const {
    Dataset dataset(path(file), name, read_path);
    std::vector<std::int32_t> values(dataset.info().elements);
    dataset.read({0, values.size()}, std::as_writable_bytes(std::span(values)));
    return values;
  }

  static void write(const StagedFile& staged, const std::vector<std::int32_t>& values) {
    ContiguousWriter writer(staged.temporary_path(), staged.data_offset().value());
    writer.write(0, std::as_bytes(std::span(values)));
    writer.sync();
  }

  std::vector<std::string> files() const {
    auto names = files_in_folder();
    std::sort(names.begin(), names.end());
    return names;
  }

  Error refusal(const OutputSpec& refused) const {
    const auto before = files();
    const Error error = error_of([&] { StagedFile staged(refused); });
    EXPECT_EQ(files(), before);
    return error;
  }
};

TEST_F(OutputTest, NothingIsUnderTheFinalNameBeforeCommit) {
  StagedFile staged(spec());
  const auto names = files();
  ASSERT_EQ(names.size(), 1U);
  EXPECT_TRUE(names[0].starts_with(".out.h5.warpfold-")) << names[0];
  EXPECT_TRUE(names[0].ends_with(".tmp")) << names[0];
  EXPECT_EQ(names[0].size(), std::string(".out.h5.warpfold-.tmp").size() + 16);
  EXPECT_EQ(staged.temporary_path(), path(names[0]));
  write(staged, numbered(100));
  staged.commit();
  EXPECT_EQ(files(), std::vector<std::string>{"out.h5"});
  EXPECT_EQ(read("out.h5", "group/x"), numbered(100));
  EXPECT_EQ(read("out.h5", "group/x", ReadPath::automatic), numbered(100));
}

TEST_F(OutputTest, NothingIsLeftWithoutCommit) {
  {
    StagedFile staged(spec());
    const StagedFile moved(std::move(staged));
    EXPECT_EQ(files().size(), 1U);
  }
  EXPECT_TRUE(files().empty());
}

TEST_F(OutputTest, LargeDatasetsAreAlignedAndAllocated) {
  const StagedFile staged(spec({64, 1 << 20}));
  EXPECT_EQ(staged.data_offset().value() % (std::uint64_t{4} << 20), 0U);
  EXPECT_GE(std::filesystem::file_size(staged.temporary_path()),
            staged.data_offset().value() + (std::uint64_t{256} << 20));
}

TEST_F(OutputTest, GapsAreLittleBesideTheDatasets) {
  for (const std::uint64_t rows : {std::uint64_t{1}, std::uint64_t{3}, std::uint64_t{20}}) {
    OutputSpec wanted = spec({rows, 1 << 18});
    wanted.others = {{"y", {rows, 1 << 18}, i32, {}}, {"z", {3}, i32, {}}};
    const StagedFile staged(wanted);
    const std::uint64_t bytes = 2 * rows << 20;
    EXPECT_EQ(staged.data_offset().value() % 4096, 0U);
    EXPECT_LE(std::filesystem::file_size(staged.temporary_path()), bytes + bytes / 64 + 8192);
  }
}

TEST_F(OutputTest, PiecesMayBeWrittenInAnyOrder) {
  StagedFile staged(spec());
  const auto values = numbered(100);
  const auto bytes = std::as_bytes(std::span(values));
  ContiguousWriter writer(staged.temporary_path(), staged.data_offset().value());
  ContiguousWriter other(std::move(writer));
  other.write(130, bytes.subspan(130));
  other.write(0, bytes.first(130));
  other.sync();
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), values);
}

TEST_F(OutputTest, ScalarsAndNoElements) {
  {
    StagedFile staged(spec({}));
    write(staged, {42});
    staged.commit();
    EXPECT_EQ(read("out.h5", "group/x"), std::vector<std::int32_t>{42});
    std::filesystem::remove(path("out.h5"));
  }
  {
    StagedFile staged(spec({4, 0}));
    EXPECT_EQ(staged.data_offset(), std::nullopt);
    staged.commit();
  }
  EXPECT_EQ(Dataset(path("out.h5"), "group/x").info().shape, (std::vector<std::uint64_t>{4, 0}));
}

TEST_F(OutputTest, AFileMayHaveSeveralDatasets) {
  OutputSpec wanted = spec();
  wanted.others = {{"group/y", {3}, i32, {}}, {"none", {0}, i32, {}}, {"z", {2, 2}, i32, {}}};
  StagedFile staged(wanted);
  EXPECT_EQ(staged.data_offset(2), std::nullopt);
  const auto write_one = [&](std::size_t dataset, const std::vector<std::int32_t>& values) {
    ContiguousWriter writer(staged.temporary_path(), staged.data_offset(dataset).value());
    writer.write(0, std::as_bytes(std::span(values)));
    writer.sync();
  };
  write_one(3, {4, 5, 6, 7});
  write_one(1, {1, 2, 3});
  write_one(0, numbered(100));
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), numbered(100));
  EXPECT_EQ(read("out.h5", "group/y"), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(read("out.h5", "none"), std::vector<std::int32_t>{});
  EXPECT_EQ(read("out.h5", "z"), (std::vector<std::int32_t>{4, 5, 6, 7}));
}

TEST_F(OutputTest, DatasetsAreAddedOneAfterAnother) {
  StagedFile staged(spec());
  write(staged, numbered(100));
  staged.finish();
  OutputSpec next = spec({200, 300});
  next.dataset = "dropped";
  staged.stage(next);
  EXPECT_GT(std::filesystem::file_size(staged.temporary_path()), 240'000U);
  staged.drop();
  next = spec({3});
  next.dataset = "y";
  staged.stage(next);
  write(staged, {1, 2, 3});
  staged.finish();
  next.dataset = "never/written";
  staged.stage(next);
  staged.drop();
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), numbered(100));
  EXPECT_EQ(read("out.h5", "y"), (std::vector<std::int32_t>{1, 2, 3}));
  EXPECT_EQ(list_datasets(path("out.h5")).size(), 2U);
  EXPECT_LT(std::filesystem::file_size(path("out.h5")), 20'000U);
}

TEST_F(OutputTest, EveryElementFormatIsStored) {
  for (const ElementType type : all_element_types) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      OutputSpec wanted = spec();
      wanted.format = {type, size_of(type) > 1 ? order : native_byte_order};
      wanted.force = true;
      StagedFile(wanted).commit();
      EXPECT_EQ(Dataset(path("out.h5"), "group/x").info().format, wanted.format);
    }
  }
}

TEST_F(OutputTest, AnExistingFileStaysWithoutForce) {
  write_text("out.h5", "precious");
  const Error error = refusal(spec());
  EXPECT_EQ(error.problem(), "cannot write '" + path("out.h5") + "'");
  EXPECT_EQ(error.why(), "it exists");
  EXPECT_TRUE(contains(error.suggestion(), "`force`"));
  EXPECT_EQ(error.exit_code(), ExitCode::failed);
  EXPECT_EQ(std::filesystem::file_size(path("out.h5")), 8U);
}

TEST_F(OutputTest, AnExistingFileIsReplacedWithForce) {
  write_text("out.h5", "old");
  OutputSpec forced = spec();
  forced.force = true;
  StagedFile staged(forced);
  EXPECT_EQ(std::filesystem::file_size(path("out.h5")), 3U);
  write(staged, numbered(100));
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), numbered(100));
  EXPECT_EQ(files().size(), 1U);
}

TEST_F(OutputTest, AFileThatAppearsMeanwhileStays) {
  {
    StagedFile staged(spec());
    write_text("out.h5", "precious");
    const Error error = error_of([&] { staged.commit(); });
    EXPECT_EQ(error.why(), "it exists");
  }
  EXPECT_EQ(files(), std::vector<std::string>{"out.h5"});
  EXPECT_EQ(std::filesystem::file_size(path("out.h5")), 8U);
}

TEST_F(OutputTest, OnlyFilesAreReplaced) {
  OutputSpec forced = spec();
  forced.force = true;
  std::filesystem::create_directory(path("out.h5"));
  EXPECT_EQ(refusal(forced).why(), "it is a folder");
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  forced.path = path("pipe");
  EXPECT_EQ(refusal(forced).why(), "it is not a regular file");
}

TEST_F(OutputTest, ALinkIsReplacedNotFollowed) {
  write_text("target", "precious");
  std::filesystem::create_symlink(path("target"), path("out.h5"));
  EXPECT_EQ(refusal(spec()).why(), "it exists");
  OutputSpec forced = spec();
  forced.force = true;
  StagedFile(forced).commit();
  EXPECT_FALSE(std::filesystem::is_symlink(path("out.h5")));
  EXPECT_EQ(std::filesystem::file_size(path("target")), 8U);
}

TEST_F(OutputTest, TheInputIsNeverReplaced) {
  create_dataset(create_file("in.h5").get(), "x", H5T_STD_I32LE, {3});
  std::filesystem::create_symlink(path("in.h5"), path("link.h5"));
  std::filesystem::create_hard_link(path("in.h5"), path("hard.h5"));
  for (const char* name : {"in.h5", "./in.h5", "link.h5", "hard.h5"}) {
    for (const bool force : {false, true}) {
      OutputSpec same = spec();
      same.path = path(name);
      same.force = force;
      same.inputs = {path("other.h5"), path("in.h5")};
      const Error error = refusal(same);
      EXPECT_TRUE(contains(error.why(), "it is the input file")) << error.why();
      EXPECT_EQ(error.exit_code(), ExitCode::usage);
    }
  }
}

TEST_F(OutputTest, AMissingFolderIsNamed) {
  OutputSpec lost = spec();
  lost.path = path("none/out.h5");
  EXPECT_EQ(refusal(lost).why(), "there is no folder '" + path("none") + "'");
  write_text("file", "");
  lost.path = path("file/out.h5");
  EXPECT_FALSE(refusal(lost).why().empty());
  lost.path = path("none/");
  EXPECT_EQ(refusal(lost).exit_code(), ExitCode::usage);
  lost.path = "";
  EXPECT_EQ(refusal(lost).exit_code(), ExitCode::usage);
}

TEST_F(OutputTest, AFolderOneMayNotWriteToIsNamed) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::create_directory(path("closed"));
  std::filesystem::permissions(path("closed"), std::filesystem::perms::owner_read);
  OutputSpec shut = spec();
  shut.path = path("closed/out.h5");
  EXPECT_EQ(refusal(shut).why(),
            "the folder '" + path("closed") + "' is not writable (permission denied)");
  std::filesystem::permissions(path("closed"), std::filesystem::perms::owner_all);
}

TEST_F(OutputTest, ALongNameStillHasATemporaryOne) {
  OutputSpec wanted = spec();
  wanted.path = path(std::string(252, 'n') + ".h5");
  StagedFile(wanted).commit();
  EXPECT_TRUE(std::filesystem::exists(wanted.path));
}

TEST_F(OutputTest, TooLittleSpaceSaysHowMuch) {
  const Error error = refusal(spec({std::uint64_t{1} << 55}));
  EXPECT_TRUE(contains(error.why(), "not enough space, 144115188075855872 bytes are needed"))
      << error.why();
  EXPECT_EQ(refusal(spec({std::uint64_t{1} << 40, std::uint64_t{1} << 40})).exit_code(),
            ExitCode::usage);
}

TEST_F(OutputTest, UnwritableBytesAreReported) {
  const StagedFile staged(spec());
  ContiguousWriter writer(staged.temporary_path(), std::uint64_t{1} << 20);
  rlimit old_limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &old_limit), 0);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = old_limit;
  limit.rlim_cur = 1000;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
  const std::vector<std::byte> bytes(100);
  EXPECT_EQ(error_of([&] { writer.write(0, bytes); }).problem(),
            "cannot write '" + staged.temporary_path() + "'");
  ::setrlimit(RLIMIT_FSIZE, &old_limit);
  std::signal(SIGXFSZ, old_handler);
}

TEST_F(OutputTest, AFullDeviceIsReported) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  ContiguousWriter writer("/dev/full", 0);
  const std::vector<std::byte> bytes(100);
  EXPECT_EQ(error_of([&] { writer.write(0, bytes); }).why(),
            "not enough space, 100 bytes of this write are not written");
  EXPECT_THROW(ContiguousWriter(path("none"), 0), Error);
}

class ChunkedOutputTest : public OutputTest {
 protected:
  OutputSpec chunked_spec(std::vector<std::uint64_t> shape,
                          std::vector<std::uint64_t> chunk) const {
    OutputSpec made = spec(std::move(shape));
    made.storage.chunk_shape = std::move(chunk);
    return made;
  }
};

TEST_F(ChunkedOutputTest, ChunksAreWrittenLongAfterTheyAreAllocated) {
  // So many have a B-tree of two levels, parts of which HDF5 writes meanwhile.
  constexpr std::uint64_t chunks = 70'000;
  OutputSpec wanted = chunked_spec({chunks * 4}, {4});
  wanted.text_attributes = {{"note", std::string(5000, 'x')}};
  StagedFile staged(wanted);
  const std::vector<std::int32_t> values = numbered(chunks * 4);
  const auto bytes = std::as_bytes(std::span(values));
  std::vector<std::uint64_t> places;
  for (std::uint64_t number = 0; number < chunks; ++number)
    places.push_back(staged.allocate_chunk(number, ChunkSize({bytes.subspan(number * 16, 16), 0})));
  ContiguousWriter writer(staged.temporary_path(), 0);
  for (std::uint64_t number = chunks; number-- > 0;)
    writer.write(places[number], bytes.subspan(number * 16, 16));
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), values);
}

TEST_F(ChunkedOutputTest, ChunksOfAFileThatKeepsOthersAreAllocatedToo) {
  {
    StagedFile staged(spec());
    write(staged, numbered(100));
    staged.commit();
  }
  OutputSpec wanted = chunked_spec({6}, {4});
  wanted.dataset = "y";
  wanted.keeps_others = true;
  StagedFile staged(wanted);
  const std::vector<std::int32_t> values = numbered(8);
  for (const std::uint64_t number : {std::uint64_t{1}, std::uint64_t{0}})
    write_chunk(staged, number, {std::as_bytes(std::span(values)).subspan(number * 16, 16), 0});
  staged.commit();
  EXPECT_EQ(read("out.h5", "group/x"), numbered(100));
  EXPECT_EQ(read("out.h5", "y"), numbered(6));
}

TEST_F(ChunkedOutputTest, AllocatedChunksThatAreDroppedLeaveAValidFile) {
  StagedFile staged(chunked_spec({4000}, {1000}));
  const std::vector<std::int32_t> values = numbered(1000);
  write_chunk(staged, 2, {std::as_bytes(std::span(values)), 0});
  OutputSpec next = spec();
  next.dataset = "y";
  staged.stage(next);
  write(staged, numbered(100));
  staged.commit();
  EXPECT_EQ(read("out.h5", "y"), numbered(100));
  EXPECT_THROW(read("out.h5", "group/x"), Error);
}

TEST_F(ChunkedOutputTest, ChunksAreWrittenInAnyOrder) {
  OutputSpec wanted = chunked_spec({9, 13}, {4, 5});
  wanted.storage.deflate_level = 5;
  wanted.storage.shuffle = true;
  wanted.storage.fletcher32 = true;
  StagedFile staged(wanted);
  EXPECT_EQ(staged.data_offset(), std::nullopt);
  ChunkEncoder encoder(wanted.storage, 4);
  std::vector<std::int32_t> chunk(20);
  for (const int number : {8, 0, 4, 2, 1, 3, 5, 7, 6}) {
    std::fill(chunk.begin(), chunk.end(), number);
    write_chunk(staged, static_cast<std::uint64_t>(number),
                encoder.encode(std::as_bytes(std::span(chunk))));
  }
  const EncodedChunk outside = encoder.encode(std::as_bytes(std::span(chunk)));
  EXPECT_THROW(staged.allocate_chunk(9, ChunkSize(outside)), Error);
  staged.commit();
  const std::vector<std::int32_t> values = read("out.h5", "group/x");
  for (std::size_t i = 0; i < values.size(); ++i) {
    EXPECT_EQ(values[i], i / 13 / 4 * 3 + i % 13 / 5) << i;
  }
  const Dataset dataset(path("out.h5"), "group/x");
  EXPECT_EQ(dataset.info().chunk_shape, (std::vector<std::uint64_t>{4, 5}));
  EXPECT_EQ(dataset.info().filters.size(), 3U);
}

TEST_F(ChunkedOutputTest, ChunksShrinkToTheShape) {
  for (const std::vector<std::uint64_t>& shape :
       {std::vector<std::uint64_t>{3, 2}, std::vector<std::uint64_t>{0, 2}}) {
    OutputSpec wanted = chunked_spec(shape, {100, 100});
    wanted.force = true;
    StagedFile(wanted).commit();
    EXPECT_EQ(Dataset(path("out.h5"), "group/x").info().shape, shape);
  }
}

TEST_F(ChunkedOutputTest, OptionsThatDoNotFitAreUsageErrors) {
  const auto expect_usage = [&](const OutputSpec& wrong) {
    EXPECT_EQ(refusal(wrong).exit_code(), ExitCode::usage);
  };
  expect_usage(chunked_spec({3, 4}, {3}));
  expect_usage(chunked_spec({3, 4}, {0, 1}));
  expect_usage(chunked_spec({}, {1}));
  expect_usage(chunked_spec({std::uint64_t{1} << 32}, {std::uint64_t{1} << 30}));
  OutputSpec wrong = spec();
  wrong.storage.shuffle = true;
  expect_usage(wrong);
  wrong = chunked_spec({3, 4}, {1, 1});
  wrong.storage.deflate_level = 10;
  expect_usage(wrong);
  wrong = spec();
  for (const char* name : {"", "/", ".", "a/"}) {
    wrong.dataset = name;
    expect_usage(wrong);
  }
}

}  // namespace
}  // namespace warpfold::io
