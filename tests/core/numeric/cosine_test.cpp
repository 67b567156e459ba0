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

TEST(Cosine, OfRadiansIsThatOfTheNumber) {
  // Cosines from mpmath with 100 digits, rounded to doubles.
  EXPECT_EQ(cosine_of_radians(0.0), 1.0);
  EXPECT_EQ(cosine_of_radians(1.0), 0.5403023058681398);
  EXPECT_EQ(cosine_of_radians(-0.5), 0.8775825618903728);
  EXPECT_EQ(cosine_of_radians(1.5), 0.0707372016677029);
  EXPECT_EQ(cosine_of_radians(1.5707963267948966), 6.123233995736766e-17);
  EXPECT_EQ(cosine_of_radians(1.5707963267948968), 0.0);
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
