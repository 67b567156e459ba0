#include "cpu/machine/host_memory.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace warpfold::cpu {
namespace {

namespace fs = std::filesystem;

class HostMemoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "warpfold-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    root_ = name;
  }
  void TearDown() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  fs::path root_;
};

std::uint64_t physical_memory() {
  return static_cast<std::uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

TEST_F(HostMemoryTest, IsAllOfTheHostsWithoutControlGroups) {
  EXPECT_EQ(usable_memory(root_), physical_memory());
}

TEST_F(HostMemoryTest, IsWhatAGroupOrOneAroundItMayUse) {
  write("proc/self/cgroup", "0::/slurm/job_7/step_0\n");
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "max\n");
  EXPECT_EQ(usable_memory(root_), physical_memory());
  write("sys/fs/cgroup/slurm/job_7/memory.max", "3000000\n");
  EXPECT_EQ(usable_memory(root_), 3'000'000u);
  write("sys/fs/cgroup/slurm/job_7/step_0/memory.max", "2000000\n");
  EXPECT_EQ(usable_memory(root_), 2'000'000u);
}

TEST_F(HostMemoryTest, IsWhatAGroupOfTheFirstVersionMayUse) {
  write("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_EQ(usable_memory(root_), physical_memory());
  write("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "4000000\n");
  EXPECT_EQ(usable_memory(root_), 4'000'000u);
}

TEST_F(HostMemoryTest, IsThatOfANamespaceWhoseGroupIsNotSeen) {
  write("proc/self/cgroup", "0::/../../outside\n");
  write("sys/fs/cgroup/memory.max", "5000000\n");
  EXPECT_EQ(usable_memory(root_), 5'000'000u);
}

}  // namespace
}  // namespace warpfold::cpu
