#include "warpfold/core/error.hpp"

#include <gtest/gtest.h>

namespace warpfold {
namespace {

TEST(Error, TextJoinsItsParts) {
  const Error error("cannot open 'a.h5'", "no such file", "Check the path.");
  EXPECT_STREQ(error.what(), "cannot open 'a.h5': no such file. Check the path.");
  EXPECT_EQ(error.problem(), "cannot open 'a.h5'");
  EXPECT_EQ(error.why(), "no such file");
  EXPECT_EQ(error.suggestion(), "Check the path.");
  EXPECT_EQ(error.exit_code(), ExitCode::failed);
}

TEST(Error, TextOmitsEmptyParts) {
  EXPECT_STREQ(Error("problem", "", "").what(), "problem.");
  EXPECT_STREQ(Error("problem", "why", "").what(), "problem: why.");
  EXPECT_STREQ(Error("problem", "", "Do this.").what(), "problem. Do this.");
  EXPECT_STREQ(Error("", "", "").what(), "");
}

TEST(Error, SentencesEndOnce) {
  EXPECT_STREQ(Error("problem", "a library's own.", "Did you mean this?").what(),
               "problem: a library's own. Did you mean this?");
  EXPECT_STREQ(Error("problem", "", "Do this").what(), "problem. Do this.");
}

TEST(Error, TextIsOneLine) { EXPECT_STREQ(Error("a\nb", "c\td\n", "e\r").what(), "a b: c d. e."); }

TEST(Error, UsageErrorsExitWithTwo) {
  EXPECT_EQ(static_cast<int>(usage_error("a", "b", "c").exit_code()), 2);
}

}  // namespace
}  // namespace warpfold
