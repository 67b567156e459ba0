#include "cli/report_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

class ReportFileTest : public testing::Test {
 protected:
  ReportFileTest() {
    std::string name = (std::filesystem::temp_directory_path() / "warpfold-test.XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~ReportFileTest() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }

  std::size_t files() const {
    return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder_),
                                                  std::filesystem::directory_iterator()));
  }

  static std::string contents(const std::string& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path folder_;
};

TEST_F(ReportFileTest, GetsItsNameOnceComplete) {
  ReportFile report(path("a.json"));
  EXPECT_FALSE(std::filesystem::exists(path("a.json")));
  report.write("{}\n");
  EXPECT_EQ(contents(path("a.json")), "{}\n");
  EXPECT_EQ(files(), 1u);
}

TEST_F(ReportFileTest, LeavesNothingUnlessWritten) {
  { const ReportFile report(path("a.json")); }
  EXPECT_EQ(files(), 0u);
}

TEST_F(ReportFileTest, KeepsAnEarlierReportUntilTheNewOneIsComplete) {
  std::ofstream(path("a.json")) << "old";
  ReportFile report(path("a.json"));
  EXPECT_EQ(contents(path("a.json")), "old");
  report.write("new");
  EXPECT_EQ(contents(path("a.json")), "new");
}

TEST_F(ReportFileTest, FollowsSymbolicLinks) {
  std::ofstream(path("real.json")) << "old";
  std::filesystem::create_symlink("real.json", path("link.json"));
  ReportFile(path("link.json")).write("new");
  EXPECT_EQ(contents(path("real.json")), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link.json")));
}

TEST_F(ReportFileTest, WritesToDevices) {
  ReportFile("/dev/null").write("gone");
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

TEST_F(ReportFileTest, IsRefusedAtOnceWhereItCannotBeWritten) {
  EXPECT_THROW(ReportFile(path("missing/a.json")), Error);
  EXPECT_THROW(ReportFile(path("")), Error);
  EXPECT_EQ(files(), 0u);
}

}  // namespace
}  // namespace warpfold::cli
