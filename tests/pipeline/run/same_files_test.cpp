#include "pipeline/run/same_files.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::pipeline {
namespace {

class SameFilesTest : public ::testing::Test {
 protected:
  SameFilesTest() {
    const std::string folder = std::filesystem::temp_directory_path().string();
    path_ = mpi::broadcast(folder + "/warpfold-same-" + std::to_string(::getpid()), communicator_);
    if (communicator_.is_root()) std::ofstream(path_) << "some bytes";
    mpi::barrier(communicator_);
  }

  ~SameFilesTest() override {
    mpi::barrier(communicator_);
    if (communicator_.is_root()) std::filesystem::remove(path_);
  }

  /// Returns what the Error says if the root has seen such a version; empty where there is none.
  std::string error_after(io::FileVersion version) {
    try {
      require_same_files("cannot read", {{path_, version}}, communicator_);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  std::string path_;
};

TEST_F(SameFilesTest, OneFileIs) { EXPECT_EQ(error_after(io::version_of(path_)), ""); }

TEST_F(SameFilesTest, AnotherInodeWithTheSameBytesIs) {
  io::FileVersion version = io::version_of(path_);
  ++version.inode;
  --version.modified_ns;
  EXPECT_EQ(error_after(version), "");
}

TEST_F(SameFilesTest, AnOlderStateIsNot) {
  io::FileVersion version = io::version_of(path_);
  --version.modified_ns;
  EXPECT_NE(error_after(version).find("sees another version"), std::string::npos);
}

TEST_F(SameFilesTest, AnotherSizeIsNot) {
  io::FileVersion version = io::version_of(path_);
  ++version.bytes;
  EXPECT_NE(error_after(version).find("a different file"), std::string::npos);
}

}  // namespace
}  // namespace warpfold::pipeline
