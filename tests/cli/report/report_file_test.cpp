#include "cli/report/report_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "cli/report/report_test.hpp"
#include "io/files/posix_file.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cli {
namespace {

using testing::internal::CaptureStderr;
using testing::internal::GetCapturedStderr;

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

TEST_F(ReportFileTest, IsWrittenInParts) {
  std::ofstream(path("a.json")) << "old";
  ReportFile report(path("a.json"));
  report.append("ne");
  EXPECT_EQ(contents(path("a.json")), "old");
  report.write("w");
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

class LineLogTest : public ReportTest {};

TEST_F(LineLogTest, GrowsByLinesThatOthersSeeAtOnce) {
  std::ofstream(path("m")) << "old";
  LineLog log(path("m"));
  EXPECT_EQ(contents(path("m")), "");
  log.append("one");
  EXPECT_EQ(contents(path("m")), "one\n");
  log.append("two");
  EXPECT_EQ(contents(path("m")), "one\ntwo\n");
}

TEST_F(LineLogTest, AFileThatCannotBeWrittenIsAnErrorAtOnce) {
  EXPECT_THROW(LineLog(path("missing/m")), Error);
  EXPECT_THROW(LineLog(path("")), Error);
}

TEST_F(LineLogTest, FollowsTheUsersOwnLinks) {
  std::ofstream(path("m"));
  std::filesystem::create_symlink("m", path("link"));
  LineLog(path("link")).append("one");
  EXPECT_EQ(contents(path("m")), "one\n");
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
}

TEST_F(LineLogTest, AFullDiskIsOneWarningAndLaterLinesAreWhole) {
  struct rlimit before {};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  LineLog log(path("m"));
  const std::string long_line(993, 'x');
  log.append(long_line);
  CaptureStderr();
  const struct rlimit small { 1000, before.rlim_max };  // room for the warning, too
  ::setrlimit(RLIMIT_FSIZE, &small);
  log.append("6789012");
  log.append("345");
  ::setrlimit(RLIMIT_FSIZE, &before);
  log.append("678");
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(contents(path("m")), long_line + "\n678901\n678\n");
  const std::string warning = GetCapturedStderr();
  EXPECT_EQ(warning.find("warpfold: warning: cannot write the report " + path("m")), 0U) << warning;
  EXPECT_EQ(warning.find('\n'), warning.size() - 1);
}

TEST_F(LineLogTest, AReaderThatIsSlowOrGoneDoesNotKeepTheProgram) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  io::FileDescriptor reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK));
  LineLog log(path("pipe"));
  CaptureStderr();
  for (int line = 0; line < 1000; ++line) log.append(std::string(1000, 'x'));
  reader = {};
  log.append("nobody reads");
  const std::string warning = GetCapturedStderr();
  EXPECT_NE(warning.find("its reader is too slow"), std::string::npos) << warning;
  EXPECT_EQ(warning.find('\n'), warning.size() - 1);
}

}  // namespace
}  // namespace warpfold::cli
