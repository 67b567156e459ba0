#include "cuda/primitives/placed_float.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "core/values/ordered_key.hpp"

namespace warpfold::cuda::kernels {
namespace {

template <class T>
void expect_placed(typename PlacedFloat<T>::Bits bits) {
  using Placed = PlacedFloat<T>;
  const auto value = widened(std::bit_cast<T>(bits));
  const double placed = Placed::of(bits);
  EXPECT_EQ(Placed::word(bits), std::bit_cast<std::uint64_t>(std::fabs(placed)) >> 32);
  EXPECT_EQ(Placed::word(bits) >= Placed::non_finite_word, !std::isfinite(value)) << bits;
  if (!std::isfinite(value)) return;
  EXPECT_EQ(std::bit_cast<std::uint64_t>(std::ldexp(placed, Placed::shift)),
            std::bit_cast<std::uint64_t>(value))
      << bits;
}

TEST(PlacedFloat, HoldsEachFloatOf16Bits) {
  for (std::uint32_t bits = 0; bits < 1u << 16; ++bits) {
    expect_placed<Float16>(static_cast<std::uint16_t>(bits));
    expect_placed<BFloat16>(static_cast<std::uint16_t>(bits));
  }
}

TEST(PlacedFloat, HoldsFloatsAndDoubles) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100'000; ++i) {
    expect_placed<float>(static_cast<std::uint32_t>(random()));
    expect_placed<double>(random());
  }
  for (const float each :
       {0.0f, -0.0f, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max(),
        std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    expect_placed<float>(std::bit_cast<std::uint32_t>(each));
    expect_placed<double>(std::bit_cast<std::uint64_t>(static_cast<double>(each)));
  }
}

}  // namespace
}  // namespace warpfold::cuda::kernels
