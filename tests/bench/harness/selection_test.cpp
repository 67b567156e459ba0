#include "bench/harness/selection.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/error.hpp"

namespace warpfold::bench {
namespace {

using Names = std::vector<std::string>;

TEST(ChosenNames, AreTheUsualOnesWhereNoneAreAskedFor) {
  EXPECT_EQ(chosen_names("kernel", {}, {"a", "b", "c"}, {"b"}), Names{"b"});
}

TEST(ChosenNames, AreThoseAskedFor) {
  EXPECT_EQ(chosen_names("kernel", {"c", "a"}, {"a", "b", "c"}, {"b"}), (Names{"c", "a"}));
}

TEST(ChosenNames, RefuseOthersWithTheRightOnes) {
  try {
    chosen_names("kernel", {"d"}, {"a", "b"}, {});
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_STREQ(error.what(), "unknown kernel 'd'. Choose from a, b.");
  }
}

}  // namespace
}  // namespace warpfold::bench
