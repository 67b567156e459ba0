#include "warpfold/core/error.hpp"

#include <gtest/gtest.h>

namespace warpfold {
namespace {

TEST(Error, TextJoinsItsParts) {
  const Error error("can't open a.h5", "no such file", "Check the path.");
  EXPECT_STREQ(error.what(), "can't open a.h5 (no such file) Check the path.");
  EXPECT_EQ(error.problem(), "can't open a.h5");
  EXPECT_EQ(error.why(), "no such file");
  EXPECT_EQ(error.suggestion(), "Check the path.");
  EXPECT_EQ(error.exit_code(), ExitCode::failed);
}

TEST(Error, TextLeavesOutEmptyParts) {
  EXPECT_STREQ(Error("problem", "", "").what(), "problem");
  EXPECT_STREQ(Error("problem", "why", "").what(), "problem (why)");
}

TEST(Error, TextIsOneLine) { EXPECT_STREQ(Error("a\nb", "c\td", "e\r").what(), "a b (c d) e "); }

TEST(Error, UsageErrorsExitWithTwo) {
  EXPECT_EQ(static_cast<int>(usage_error("a", "b", "c").exit_code()), 2);
}

}  // namespace
}  // namespace warpfold
