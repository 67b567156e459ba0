#include "cli/report/report_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "cli/report/report_test.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

class ReportFileTest : public ReportTest {};

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
