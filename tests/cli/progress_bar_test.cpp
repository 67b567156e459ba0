#include "cli/progress_bar.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace warpfold::cli {
namespace {

constexpr std::uint64_t gib = std::uint64_t{1} << 30;

TEST(ProgressLine, TellsBytesRateAndTheTimeLeft) {
  EXPECT_EQ(progress_line("reduce", gib, 4 * gib, 2.0),
            "reduce [######                  ] 25%  1.00 GiB of 4.00 GiB  0.54 GB/s  6 s left");
}

TEST(ProgressLine, Ends) {
  EXPECT_EQ(progress_line("scan", 2 * gib, 2 * gib, 1.0),
            "scan [########################] 100%  2.00 GiB of 2.00 GiB  2.15 GB/s");
}

TEST(ProgressLine, KnowsNothingAtFirst) {
  EXPECT_EQ(progress_line("scan", 0, 1024, 0.0),
            "scan [                        ] 0%  0 bytes of 1.00 KiB  0.00 GB/s");
  EXPECT_EQ(progress_line("scan", 0, 0, 1.0),
            "scan [########################] 100%  0 bytes of 0 bytes  0.00 GB/s");
}

TEST(ProgressLine, IsNotDoneBeforeTheEnd) {
  EXPECT_NE(progress_line("scan", 999, 1000, 1.0).find(" 99% "), std::string::npos);
}

TEST(ProgressBar, IsWantedWhereAskedFor) {
  EXPECT_TRUE(ProgressBar("scan", ProgressWhen::always, 1).wanted());
  EXPECT_FALSE(ProgressBar("scan", ProgressWhen::never, 1).wanted());
}

}  // namespace
}  // namespace warpfold::cli
