#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mpi/communicator.hpp"
#include "warpfold/warpfold.h"

namespace warpfold {
namespace {

class CInterface : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(warpfold_create(MPI_COMM_WORLD, &global_), WARPFOLD_OK); }
  void TearDown() override {
    EXPECT_EQ(warpfold_free(&global_), WARPFOLD_OK);
    EXPECT_EQ(global_, nullptr);
  }

  bool is_last() const { return communicator_.is_last(); }
  int ranks() const { return communicator_.size(); }

  mpi::Communicator communicator_{MPI_COMM_WORLD};
  warpfold_collectives* global_ = nullptr;
};

TEST_F(CInterface, SumsEachType) {
  const float f32[] = {0x1p100f, 1.0f, -0x1p100f};
  const double f64[] = {1e300, 1.0, -1e300};
  const std::int32_t i32[] = {2147483647, 2147483647, -1};
  const std::int64_t i64[] = {std::numeric_limits<std::int64_t>::max(), 1, -5000};
  double sum = 0;
  std::int64_t integer = 0;
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_F32, f32, 3, nullptr, &sum), WARPFOLD_OK);
  EXPECT_EQ(sum, ranks());
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_F64, f64, 3, nullptr, &sum), WARPFOLD_OK);
  EXPECT_EQ(sum, ranks());
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_I32, i32, 3, nullptr, &integer), WARPFOLD_OK);
  EXPECT_EQ(integer, ranks() * std::int64_t{4294967293});
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_I64, i64, is_last() ? 3 : 0, nullptr, &integer),
            WARPFOLD_OK);
  EXPECT_EQ(integer, std::numeric_limits<std::int64_t>::max() - 4999);
}

TEST_F(CInterface, SumsFieldsAndProductsUnderAMask) {
  const double x[] = {1, 2, 3, 10, 20, 30};
  const double y[] = {1, 1, 2, 1, 1, 0.5};
  const unsigned char mask[] = {1, 0, 255};
  double sums[2] = {};
  EXPECT_EQ(warpfold_sums(global_, WARPFOLD_F64, 2, x, 3, mask, sums), WARPFOLD_OK);
  EXPECT_EQ(sums[0], 4.0 * ranks());
  EXPECT_EQ(sums[1], 40.0 * ranks());
  EXPECT_EQ(warpfold_dots(global_, WARPFOLD_F64, 2, x, y, 3, mask, sums), WARPFOLD_OK);
  EXPECT_EQ(sums[0], 7.0 * ranks());
  EXPECT_EQ(sums[1], 25.0 * ranks());
  EXPECT_EQ(warpfold_dot(global_, WARPFOLD_F64, x, y, 6, nullptr, sums), WARPFOLD_OK);
  EXPECT_EQ(sums[0], 54.0 * ranks());
}

TEST_F(CInterface, FindsExtremaAndScans) {
  const std::int32_t x[] = {5, -7, 9};
  const unsigned char mask[] = {1, 1, 0};
  std::int64_t extremum = 0;
  EXPECT_EQ(warpfold_min(global_, WARPFOLD_I32, x, 3, mask, &extremum), WARPFOLD_OK);
  EXPECT_EQ(extremum, -7);
  EXPECT_EQ(warpfold_max(global_, WARPFOLD_I32, x, 3, mask, &extremum), WARPFOLD_OK);
  EXPECT_EQ(extremum, 5);
  EXPECT_EQ(warpfold_max(global_, WARPFOLD_I32, x, 0, nullptr, &extremum), WARPFOLD_FAILED);
  EXPECT_STREQ(warpfold_error_message(),
               "no element is selected. Select at least one on any rank.");

  std::int64_t prefixes[3] = {};
  const std::int64_t before = 7 * communicator_.rank();
  EXPECT_EQ(warpfold_scan(global_, WARPFOLD_I32, x, 3, 0, prefixes), WARPFOLD_OK);
  EXPECT_EQ(prefixes[2], before + 7);
  EXPECT_EQ(warpfold_scan(global_, WARPFOLD_I32, x, 3, 1, prefixes), WARPFOLD_OK);
  EXPECT_EQ(prefixes[0], before);
  EXPECT_EQ(prefixes[2], before - 2);
}

TEST_F(CInterface, TakesFortranCommunicators) {
  warpfold_collectives* other = nullptr;
  ASSERT_EQ(warpfold_create_f(MPI_Comm_c2f(MPI_COMM_WORLD), &other), WARPFOLD_OK);
  const double x = 0.5;
  double sum = 0;
  EXPECT_EQ(warpfold_sum(other, WARPFOLD_F64, &x, 1, nullptr, &sum), WARPFOLD_OK);
  EXPECT_EQ(sum, 0.5 * ranks());
  EXPECT_EQ(warpfold_free(&other), WARPFOLD_OK);
}

TEST_F(CInterface, MistakesOfOneRankReachAll) {
  const double x[] = {1, 2};
  double sum = 0;
  EXPECT_EQ(warpfold_sum(global_, is_last() ? 77 : WARPFOLD_F64, x, 2, nullptr, &sum),
            WARPFOLD_USAGE);
  EXPECT_STREQ(
      warpfold_error_message(),
      "there is no type 77. Pass WARPFOLD_F32, WARPFOLD_F64, WARPFOLD_I32 or WARPFOLD_I64.");
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_F64, is_last() ? nullptr : x, 2, nullptr, &sum),
            WARPFOLD_USAGE);
  EXPECT_STREQ(warpfold_error_message(),
               "the field is null: it has 2 elements. Pass its address, or no elements.");
  EXPECT_EQ(is_last() ? warpfold_refuse(global_, "the mask is short")
                      : warpfold_min(global_, WARPFOLD_F64, x, 2, nullptr, &sum),
            WARPFOLD_USAGE);
  EXPECT_STREQ(warpfold_error_message(), "the mask is short.");
}

TEST_F(CInterface, ASumBeyondItsTypeIsAnErrorOnAllRanks) {
  const std::int64_t x[] = {std::numeric_limits<std::int64_t>::max(), 1};
  std::int64_t sum = 0;
  EXPECT_EQ(warpfold_sum(global_, WARPFOLD_I64, x, 2, nullptr, &sum), WARPFOLD_FAILED);
  EXPECT_STREQ(warpfold_error_message(),
               "a sum exceeds int64_t. Sum fewer or smaller integers, or doubles.");
}

TEST(CInterfaceWithoutCollectives, IsAMistake) {
  const double x = 1;
  double sum = 0;
  EXPECT_EQ(warpfold_sum(nullptr, WARPFOLD_F64, &x, 1, nullptr, &sum), WARPFOLD_USAGE);
  EXPECT_STREQ(warpfold_error_message(),
               "the collectives are null. Pass what warpfold_create() made.");
}

}  // namespace
}  // namespace warpfold
