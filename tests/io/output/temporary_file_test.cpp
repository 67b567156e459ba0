#include "io/output/temporary_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <csignal>

#include <algorithm>

#include "io/hdf5/hdf5_fixture.hpp"
#include "io/output/output.hpp"

namespace warpfold::io {
namespace {

class TemporaryFileTest : public Hdf5Test {
 protected:
  const std::string target_ = path("out.h5");
  const std::string stale_ = ".out.h5.warpfold-0123456789abcdef.tmp";

  std::vector<std::string> files_after_removal() const {
    remove_stale_temporaries(target_);
    auto names = files_in_folder();
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(TemporaryFileTest, IsNewAndEmpty) {
  const TemporaryFile one = create_temporary_beside(target_, "");
  const TemporaryFile other = create_temporary_beside(target_, "");
  EXPECT_NE(one.path, other.path);
  EXPECT_EQ(std::filesystem::file_size(one.path), 0U);
}

TEST_F(TemporaryFileTest, AFolderThatIsGoneIsAnError) {
  const Error error = error_of([&] { create_temporary_beside(path("gone/out.h5"), "no way"); });
  EXPECT_EQ(error.problem(), "no way");
  EXPECT_EQ(error.why(), "no such file");
}

TEST_F(TemporaryFileTest, NamesNeverExceedWhatFileSystemsTake) {
  const std::string name(255, 'n');
  TemporaryFile temporary = create_temporary_beside(path(name), "");
  EXPECT_EQ(std::filesystem::path(temporary.path).filename().string().size(), 255U);
  temporary.lock = {};
  remove_stale_temporaries(path(name));
  EXPECT_TRUE(files_in_folder().empty());
}

TEST_F(TemporaryFileTest, FilesThatNoProcessUsesAreRemoved) {
  write_text(stale_, "left");
  EXPECT_TRUE(files_after_removal().empty());
}

TEST_F(TemporaryFileTest, FilesInUseStay) {
  std::optional<TemporaryFile> used = create_temporary_beside(target_, "");
  EXPECT_EQ(files_after_removal().size(), 1U);
  used.reset();
  EXPECT_TRUE(files_after_removal().empty());
}

TEST_F(TemporaryFileTest, FilesUsedByAnotherProcessStayUntilItIsKilled) {
  const pid_t child = ::fork();
  if (child == 0) {
    const TemporaryFile used = create_temporary_beside(target_, "");
    for (;;) ::pause();
  }
  while (files_in_folder().empty()) ::usleep(1000);
  ::usleep(50'000);  // it may be about to lock
  EXPECT_EQ(files_after_removal().size(), 1U);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(files_after_removal().empty());
}

TEST_F(TemporaryFileTest, NothingElseIsRemoved) {
  const std::vector<std::string> others{
      ".out.h5.warpfold-0123456789abcde.tmp",  ".out.h5.warpfold-0123456789abcdeF.tmp",
      ".out.h5.warpfold-0123456789abcdef.tm",  ".out.h5x.warpfold-0123456789abcdef.tmp",
      "xout.h5.warpfold-0123456789abcdef.tmp", "out.h5"};
  for (const std::string& name : others) write_text(name, "");
  EXPECT_EQ(files_after_removal().size(), others.size());
}

TEST_F(TemporaryFileTest, OnlyRegularFilesOfOneNameAreRemoved) {
  write_text("precious", "data");
  std::filesystem::create_symlink(path("precious"), path(stale_));
  EXPECT_EQ(files_after_removal().size(), 2U);
  std::filesystem::remove(path(stale_));
  std::filesystem::create_hard_link(path("precious"), path(stale_));
  EXPECT_EQ(files_after_removal().size(), 2U);
  std::filesystem::remove(path(stale_));
  std::filesystem::create_directory(path(stale_));
  EXPECT_EQ(files_after_removal().size(), 2U);
  std::filesystem::remove(path(stale_));
  ASSERT_EQ(::mkfifo(path(stale_).c_str(), 0600), 0);
  EXPECT_EQ(files_after_removal().size(), 2U);
}

TEST_F(TemporaryFileTest, AStagedFileRemovesThemAndIsInUse) {
  write_text(stale_, "left");
  OutputSpec spec;
  spec.path = target_;
  spec.dataset = "x";
  spec.shape = {10};
  StagedFile staged(spec);
  EXPECT_EQ(files_after_removal().size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(staged.temporary_path()));
  StagedFile other(spec);
  EXPECT_EQ(files_after_removal().size(), 2U);
  staged.commit();
  EXPECT_EQ(files_after_removal().size(), 2U);
}

}  // namespace
}  // namespace warpfold::io
