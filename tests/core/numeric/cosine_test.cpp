#include "core/numeric/cosine.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace warpfold {
namespace {

constexpr struct {
  double degrees;
  double cosine;
} cases[] = {
#include "core/numeric/cosine_cases.inc"
};

TEST(Cosine, IsRoundedOnce) {
  for (const auto& [degrees, cosine] : cases)
    EXPECT_EQ(cosine_of_degrees(degrees), cosine) << degrees << " degrees";
}

TEST(Cosine, OfRightAnglesHasNoSign) {
  for (const double degrees : {90.0, -90.0, 270.0, 450.0})
    EXPECT_FALSE(std::signbit(cosine_of_degrees(degrees))) << degrees << " degrees";
}

TEST(Cosine, IsEven) {
  for (const auto& [degrees, cosine] : cases)
    EXPECT_EQ(cosine_of_degrees(-degrees), cosine) << degrees << " degrees";
}

TEST(Cosine, OfNoNumberIsNone) {
  for (const double degrees :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()})
    EXPECT_TRUE(std::isnan(cosine_of_degrees(degrees))) << degrees;
}

}  // namespace
}  // namespace warpfold
