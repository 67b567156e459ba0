#include "io/files/memory_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <thread>
#include <vector>

#include "io/files/posix_file.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t file_bytes = 100'000;

class MemoryFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = "/dev/shm/warpfold-test-XXXXXX";
    descriptor_ = FileDescriptor(::mkstemp(name.data()));
    if (!descriptor_) GTEST_SKIP() << "no files in memory here";
    name_ = name;
    ASSERT_EQ(::ftruncate(descriptor_.get(), file_bytes), 0);
  }
  void TearDown() override { ::unlink(name_.c_str()); }

  void allocate() const { ASSERT_EQ(::posix_fallocate(descriptor_.get(), 0, file_bytes), 0); }

  std::vector<std::byte> contents() const {
    std::vector<std::byte> bytes(file_bytes);
    EXPECT_EQ(read_at(descriptor_.get(), 0, bytes).bytes, file_bytes);
    return bytes;
  }

  FileDescriptor descriptor_;
  std::string name_;
};

std::vector<std::byte> repeated(int value, std::size_t count) {
  return std::vector<std::byte>(count, static_cast<std::byte>(value));
}

TEST_F(MemoryFileTest, CopiesToItsPlace) {
  allocate();
  const MemoryFile file(descriptor_.get());
  EXPECT_TRUE(file.copy(5000, repeated(2, 10'000)));
  EXPECT_FALSE(file.copy(file_bytes - 10, repeated(3, 11)));
  EXPECT_FALSE(file.copy(file_bytes + 1, repeated(3, 1)));
  std::vector<std::byte> expected(file_bytes);
  std::fill_n(expected.begin() + 5000, 10'000, std::byte{2});
  EXPECT_EQ(contents(), expected);
}

TEST_F(MemoryFileTest, LeavesAFileAloneWhosePagesAreNotAllThere) {
  const MemoryFile file(descriptor_.get());
  EXPECT_FALSE(file.copy(0, repeated(1, 10)));
}

TEST_F(MemoryFileTest, OneThreadHasTheTurn) {
  MemoryFile file(descriptor_.get());
  const std::unique_lock first = file.try_turn();
  EXPECT_TRUE(first.owns_lock());
  std::jthread([&] { EXPECT_FALSE(file.try_turn().owns_lock()); }).join();
}

TEST_F(MemoryFileTest, ThreadsWriteAtOnce) {
  allocate();
  ContiguousWriter writer(name_, 100);
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 4; ++thread)
      threads.emplace_back([&writer, thread] {
        for (int piece = thread; piece < 99; piece += 4)
          writer.write(1000 * static_cast<std::uint64_t>(piece), repeated(piece + 1, 1000));
      });
  }
  std::vector<std::byte> expected(file_bytes);
  for (std::size_t i = 0; i < 99'000; ++i) expected[100 + i] = static_cast<std::byte>(i / 1000 + 1);
  EXPECT_EQ(contents(), expected);
}

}  // namespace
}  // namespace warpfold::io
