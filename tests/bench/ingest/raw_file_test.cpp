#include "bench/ingest/raw_file.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

constexpr std::uint64_t header_bytes = 3;

class FileDigest : public testing::Test {
 protected:
  ~FileDigest() override { std::remove(path_.c_str()); }

  std::uint64_t digest(const std::string& content, std::uint64_t piece_bytes, int threads) {
    std::ofstream(path_, std::ios::binary) << std::string(header_bytes, '#') << content;
    return digest_of(path_, header_bytes,
                     split_into_pieces({header_bytes, content.size()}, piece_bytes), threads);
  }

  // Tests run at once, each in a process of its own.
  std::string path_ = testing::TempDir() + "file_digest_" +
                      testing::UnitTest::GetInstance()->current_test_info()->name() + ".bin";
  std::string content_ = std::string(1000, 'a') + std::string(999, 'b');
};

TEST_F(FileDigest, DependsOnNeitherPiecesNorThreads) {
  const std::uint64_t whole = digest(content_, 1 << 20, 1);
  EXPECT_EQ(digest(content_, 64, 1), whole);
  EXPECT_EQ(digest(content_, 8, 3), whole);
}

TEST_F(FileDigest, SeesEveryByte) {
  const std::uint64_t before = digest(content_, 64, 1);
  for (std::size_t place = 0; place < content_.size(); place += 37) {
    std::string other = content_;
    ++other[place];
    EXPECT_NE(digest(other, 64, 1), before) << place;
  }
}

TEST_F(FileDigest, SeesTheOrderOfWords) {
  const std::string one(8, '1');
  const std::string two(8, '2');
  EXPECT_NE(digest(one + two, 64, 1), digest(two + one, 64, 1));
}

TEST_F(FileDigest, RefusesAFileThatEndsEarly) {
  digest(content_, 64, 1);
  EXPECT_THROW(digest_of(path_, 0, {{0, content_.size() + 100}}, 1), Error);
}

}  // namespace
}  // namespace warpfold::bench
