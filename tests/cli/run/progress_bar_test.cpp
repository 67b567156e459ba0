#include "cli/run/progress_bar.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace warpfold::cli {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

RunProgress progress_at(double seconds, std::uint64_t done, std::uint64_t total) {
  RunProgress progress;
  progress.pass = 1;
  progress.seconds = progress.pass_seconds = seconds;
  progress.done = done;
  progress.total = total;
  return progress;
}

std::string line(const std::string& command, const RunProgress& progress) {
  return progress_line(command, progress, {}, 0);
}

const RunRates busy_stages{0.5,
                           {{"read", 2, 0.07, 7.72, 1},
                            {"sync", 1, 0, {}, 0},
                            {"fold", 2, 0.9, 0.6, 1},
                            {"combine", 1, 0.2, {}, 0}}};

TEST(ProgressLine, TellsBytesRateAndTheTimeLeft) {
  EXPECT_EQ(line("reduce", progress_at(2, gib, 4 * gib)),
            "reduce [######                  ] 25%  1.00 GiB of 4.00 GiB  0.54 GB/s  6 s left");
}

TEST(ProgressLine, Ends) {
  EXPECT_EQ(line("scan", progress_at(1, 2 * gib, 2 * gib)),
            "scan [########################] 100%  2.00 GiB of 2.00 GiB  2.15 GB/s");
}

TEST(ProgressLine, KnowsNothingAtFirst) {
  EXPECT_EQ(line("scan", progress_at(0, 0, 1024)),
            "scan [                        ] 0%  0 bytes of 1.00 KiB  0.00 GB/s");
  EXPECT_EQ(line("scan", progress_at(1, 0, 0)),
            "scan [########################] 100%  0 bytes of 0 bytes  0.00 GB/s");
}

TEST(ProgressLine, SaysThatARunStillStarts) {
  RunProgress starting;
  starting.seconds = 12.7;
  EXPECT_EQ(line("scan", starting), "scan starting, 12 s");
}

TEST(ProgressLine, IsNotDoneBeforeTheEnd) {
  EXPECT_NE(line("scan", progress_at(1, 999, 1000)).find(" 99% "), std::string::npos);
}

TEST(ProgressLine, CountsDatasets) {
  RunProgress second = progress_at(1, gib, gib);
  second.number = 2;
  second.datasets = 12;
  EXPECT_EQ(line("reduce", second).substr(0, 18), "reduce 2 of 12 [##");
}

TEST(ProgressLine, EndsWithTheStagesThatAreBusy) {
  EXPECT_EQ(progress_line("scan", progress_at(1, 2 * gib, 2 * gib), busy_stages, 0),
            "scan [########################] 100%  2.00 GiB of 2.00 GiB  2.15 GB/s  "
            "read 7.7 GB/s 7%, fold 0.6 GB/s 90%, combine 20%");
}

TEST(ProgressLine, FitsItsColumns) {
  const RunProgress progress = progress_at(1, 2 * gib, 2 * gib);
  const auto in = [&](std::size_t columns) {
    return progress_line("scan", progress, busy_stages, columns);
  };
  EXPECT_EQ(in(110),
            "scan [########################] 100%  2.00 GiB of 2.00 GiB  2.15 GB/s  "
            "fold 0.6 GB/s 90%, combine 20%");
  EXPECT_EQ(in(61), "scan 100%  2.00 GiB of 2.00 GiB  2.15 GB/s  fold 0.6 GB/s 90%");
  EXPECT_EQ(in(60), "scan 100%  2.00 GiB of 2.00 GiB  2.15 GB/s");
  EXPECT_EQ(in(20), "scan 100%  2.00 GiB ");
  for (std::size_t columns = 1; columns < 150; ++columns) EXPECT_LE(in(columns).size(), columns);
}

TEST(ProgressBar, IsWantedWhereAskedFor) {
  EXPECT_TRUE(ProgressBar("scan", ProgressWhen::always).wanted());
  EXPECT_FALSE(ProgressBar("scan", ProgressWhen::never).wanted());
}

}  // namespace
}  // namespace warpfold::cli
