#include "warpfold/core/int128.hpp"

#include <gtest/gtest.h>

namespace warpfold {
namespace {

TEST(Int128, DecimalDigits) {
  EXPECT_EQ(to_string(int128{0}), "0");
  EXPECT_EQ(to_string(int128{7}), "7");
  EXPECT_EQ(to_string(int128{-10}), "-10");
  EXPECT_EQ(to_string(int128{1} << 64), "18446744073709551616");
  EXPECT_EQ(to_string(-(int128{1} << 64)), "-18446744073709551616");
}

TEST(Int128, DecimalDigitsOfTheExtremes) {
  const auto minimum = static_cast<int128>(uint128{1} << 127);
  EXPECT_EQ(to_string(minimum), "-170141183460469231731687303715884105728");
  EXPECT_EQ(to_string(-(minimum + 1)), "170141183460469231731687303715884105727");
}

}  // namespace
}  // namespace warpfold
