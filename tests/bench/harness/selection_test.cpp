#include "bench/harness/selection.hpp"

#include <gtest/gtest.h>

#include <set>

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

TEST(ChosenKernels, AreVariantsAndOthersOrThoseAskedFor) {
  struct Variant {
    std::string name;
  };
  const std::vector<Variant> variants{{"a"}, {"b"}};
  EXPECT_EQ(chosen_kernels({}, variants, {"copy"}), (Names{"a", "b", "copy"}));
  EXPECT_EQ(chosen_kernels({"copy", "b"}, variants, {"copy"}), (Names{"copy", "b"}));
  EXPECT_THROW(chosen_kernels({"c"}, variants, {"copy"}), Error);
}

using Sizes = std::vector<std::uint64_t>;

TEST(UsualSizes, GoFromAKibibyteTo4Gibibytes) {
  const Sizes sizes = sizes_or_usual({});
  EXPECT_EQ(sizes.size(), 12u);
  EXPECT_EQ(sizes.front(), 1024u);
  EXPECT_EQ(sizes.back(), std::uint64_t{4} << 30);
  EXPECT_EQ(sizes_or_usual({5}), Sizes{5});
}

TEST(PlanSizes, LeavesOutWhatDoesNotFit) {
  const SizePlan plan = plan_sizes({1024, 4096, 16384}, 3, 3 * 5000, 0);
  EXPECT_EQ(plan.fitting, (Sizes{1024, 4096}));
  EXPECT_EQ(plan.too_large, Sizes{16384});
  EXPECT_EQ(plan.capacity, 4096u);
}

TEST(PlanSizes, TakesRoomToRotateWhereThereIsSome) {
  EXPECT_EQ(plan_sizes({1024}, 1, 1 << 20, 8192).capacity, 8192u);
  EXPECT_EQ(plan_sizes({1024}, 1, 4096, 8192).capacity, 4096u);
  EXPECT_EQ(plan_sizes({16384}, 1, 1 << 20, 8192).capacity, 16384u);
  EXPECT_EQ(plan_sizes({1000}, 1, 1 << 20, 0).capacity, 1024u);
}

TEST(PlanSizes, TakesNothingWhereNothingFits) {
  const SizePlan plan = plan_sizes({1024}, 2, 2047, 8192);
  EXPECT_TRUE(plan.fitting.empty());
  EXPECT_EQ(plan.capacity, 0u);
}

TEST(Windows, GoThroughTheWholeArray) {
  const Windows windows(4096, 1000);
  std::set<std::uint64_t> offsets;
  for (std::uint64_t launch = 0; launch < 100; ++launch) offsets.insert(windows.offset(launch));
  EXPECT_EQ(offsets, (std::set<std::uint64_t>{0, 1024, 2048, 3072}));
}

TEST(Windows, StayWhereTheArrayHoldsOne) {
  const Windows windows(4096, 4000);
  EXPECT_EQ(windows.offset(0), 0u);
  EXPECT_EQ(windows.offset(1), 0u);
}

}  // namespace
}  // namespace warpfold::bench
