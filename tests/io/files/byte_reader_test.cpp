#include "io/files/byte_reader.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <random>

#include "io/dataset/dataset.hpp"
#include "io/files/file_cache.hpp"
#include "io/hdf5/hdf5_fixture.hpp"

namespace warpfold::io {
namespace {

/// Memory that begins at a multiple of 4096 bytes.
class PageAligned {
 public:
  explicit PageAligned(std::size_t bytes) : memory_(bytes + 4096) {}

  std::span<std::byte> span() {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    return std::span(memory_).subspan((4096 - address % 4096) % 4096).first(memory_.size() - 4096);
  }

 private:
  std::vector<std::byte> memory_;
};

std::string random_text(std::size_t bytes) {
  std::mt19937_64 random(1);
  std::string text(bytes, '\0');
  for (char& each : text) each = static_cast<char>(random());
  return text;
}

class ByteReaderTest : public Hdf5Test, public ::testing::WithParamInterface<FileCache> {
 protected:
  /// In this folder, or in one of a file system that keeps its files in memory.
  std::string fetched(const std::string& file, std::uint64_t offset, std::uint64_t bytes) {
    ByteReader reader(file, "cannot read it");
    reader.choose_cache(GetParam(), 0, 1 << 30);
    PageAligned buffer(bytes + fetch_slack);
    const std::span<std::byte> there = reader.fetch(offset, bytes, buffer.span());
    return {reinterpret_cast<const char*>(there.data()), there.size()};
  }
};

TEST_P(ByteReaderTest, BringsTheBytesOfAnyRange) {
  const std::string text = random_text(3 * 4096 + 1234);
  write_text("file", text);
  const std::uint64_t places[] = {0, 1, 511, 4095, 4096, 4097, 8192, text.size() - 1};
  for (const std::uint64_t first : places) {
    for (const std::uint64_t end : places) {
      if (end > first) {
        EXPECT_EQ(fetched(path("file"), first, end - first), text.substr(first, end - first));
      }
    }
    EXPECT_EQ(fetched(path("file"), first, text.size() - first), text.substr(first));
  }
}

TEST_P(ByteReaderTest, ReadsFilesThatCannotBypassTheCache) {
  std::ifstream version("/proc/version");
  const std::string text(std::istreambuf_iterator<char>(version), {});
  EXPECT_EQ(fetched("/proc/version", 0, text.size()), text);
  EXPECT_EQ(fetched("/proc/version", 3, text.size() - 5), text.substr(3, text.size() - 5));
}

TEST_P(ByteReaderTest, TellsWhereAShortFileEnds) {
  write_text("file", random_text(5000));
  const Error error = error_of([&] { fetched(path("file"), 4000, 1001); });
  EXPECT_TRUE(contains(error.what(), "cannot read it")) << error.what();
  EXPECT_TRUE(contains(error.what(), "the file ends at byte 5000")) << error.what();
}

TEST_P(ByteReaderTest, FetchesElementsAlignedToTheirSize) {
  const std::vector<std::int32_t> values = numbered(100000);
  {
    const FileHandle file = create_file("in.h5");
    write_all(create_dataset(file.get(), "x", H5T_NATIVE_INT32, {values.size()}).get(),
              H5T_NATIVE_INT32, values);
  }
  Dataset dataset(path("in.h5"), "x");
  dataset.choose_cache(GetParam());
  for (const ElementRange range : {ElementRange{0, 100000}, ElementRange{77, 3000},
                                   ElementRange{99999, 1}, ElementRange{5, 0}}) {
    PageAligned buffer(range.count * sizeof(std::int32_t) + fetch_slack);
    const std::span<std::byte> there = dataset.fetch(range, buffer.span());
    ASSERT_EQ(there.size(), range.count * sizeof(std::int32_t));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(there.data()) % sizeof(std::int32_t), 0u);
    EXPECT_EQ(std::memcmp(there.data(), values.data() + range.first, there.size()), 0);
  }
  PageAligned buffer(8 + fetch_slack);
  EXPECT_THROW(dataset.fetch({99999, 2}, buffer.span()), Error);
}

TEST_P(ByteReaderTest, FetchesWhatTheLibraryReads) {
  const std::vector<std::int32_t> values = numbered(1000);
  {
    const FileHandle file = create_file("in.h5");
    write_all(create_dataset(file.get(), "x", H5T_NATIVE_INT32, {values.size()}).get(),
              H5T_NATIVE_INT32, values);
  }
  Dataset dataset(path("in.h5"), "x", ReadPath::library);
  dataset.choose_cache(GetParam());
  PageAligned buffer(2000 + fetch_slack);
  const std::span<std::byte> there = dataset.fetch({100, 500}, buffer.span());
  ASSERT_EQ(there.size(), 2000u);
  EXPECT_EQ(std::memcmp(there.data(), values.data() + 100, 2000), 0);
}

INSTANTIATE_TEST_SUITE_P(Io, ByteReaderTest,
                         ::testing::Values(FileCache::through, FileCache::past,
                                           FileCache::automatic));

TEST(CacheTrial, TakesTurnsAndThenKeepsTheFasterWay) {
  for (const bool past_is_faster : {false, true}) {
    CacheTrial trial;
    int past_reads = 0;
    for (int read = 0; read < 16; ++read) {
      const bool past = trial.next_goes_past();
      past_reads += past ? 1 : 0;
      trial.record(past, 1000, past == past_is_faster ? 1.0 : 2.0);
    }
    EXPECT_EQ(past_reads, 8);
    for (int read = 0; read < 4; ++read) EXPECT_EQ(trial.next_goes_past(), past_is_faster);
  }
}

TEST(CacheTrial, StaysWithTheCacheWhereLittleIsGained) {
  CacheTrial trial;
  for (int read = 0; read < 16; ++read) {
    const bool past = trial.next_goes_past();
    trial.record(past, 1000, past ? 0.95 : 1.0);
  }
  EXPECT_FALSE(trial.next_goes_past());
}

class FileResidency : public Hdf5Test {};

TEST_F(FileResidency, KnowsWhatWasJustWrittenAndWhatWasDropped) {
  write_text("file", random_text(1 << 20));
  EXPECT_TRUE(is_mostly_cached(path("file"), 0, 1 << 20));
  EXPECT_TRUE(is_mostly_cached("/proc/version", 0, 100));
  EXPECT_TRUE(is_mostly_cached(path("missing"), 0, 100));
}

}  // namespace
}  // namespace warpfold::io
