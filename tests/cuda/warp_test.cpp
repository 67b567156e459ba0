#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "cuda/gpu_test.hpp"
#include "cuda/warp_kernels.hpp"

namespace warpfold::cuda {
namespace {

constexpr int lanes = 32;

std::size_t at(int lane) { return static_cast<std::size_t>(lane); }

template <class T>
T lane_value(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, DoublePair>) {
    const double high = static_cast<double>(random() >> 20) - 0x1p43;
    return {high, high * 0x1p-60};
  } else if constexpr (std::is_same_v<T, Extremum>) {
    return {random() % 16, random() % 1000, random()};
  } else if constexpr (std::is_same_v<T, int128>) {
    return static_cast<int128>(random()) * static_cast<int128>(random() >> 40) - 12345;
  } else {
    return static_cast<T>(random() >> 40) - 4321;
  }
}

template <class T>
std::vector<T> lane_values() {
  std::mt19937_64 random(sizeof(T));
  std::vector<T> values;
  for (int lane = 0; lane < lanes; ++lane) values.push_back(lane_value<T>(random));
  return values;
}

template <class T>
T combined(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, Extremum>) {
    Extremum best = a;
    best.merge(b);
    return best;
  } else if constexpr (std::is_same_v<T, DoublePair>) {
    return add(a, b);
  } else {
    return a + b;
  }
}

template <class T>
bool same_bytes(const T& a, const T& b) {
  return std::memcmp(&a, &b, sizeof(T)) == 0;
}

template <class T>
class CudaWarp : public GpuTest {};

using LaneTypes = testing::Types<std::int32_t, std::int64_t, int128, DoublePair, Extremum>;
TYPED_TEST_SUITE(CudaWarp, LaneTypes);

TYPED_TEST(CudaWarp, ShuffleTakesTheSourceLane) {
  const auto values = lane_values<TypeParam>();
  for (int source = 0; source < lanes; ++source)
    for (const TypeParam& value : test::shuffled(values, source))
      EXPECT_TRUE(same_bytes(value, values[at(source)]));
}

TYPED_TEST(CudaWarp, ShuffleUpTakesTheLaneBelow) {
  const auto values = lane_values<TypeParam>();
  for (const int delta : {1, 2, 7, 16, 31}) {
    const auto result = test::shuffled_up(values, delta);
    for (int lane = 0; lane < lanes; ++lane)
      EXPECT_TRUE(same_bytes(result[at(lane)], values[at(lane < delta ? lane : lane - delta)]));
  }
}

TYPED_TEST(CudaWarp, ShuffleDownTakesTheLaneAbove) {
  const auto values = lane_values<TypeParam>();
  for (const int delta : {1, 2, 7, 16, 31}) {
    const auto result = test::shuffled_down(values, delta);
    for (int lane = 0; lane < lanes; ++lane)
      EXPECT_TRUE(
          same_bytes(result[at(lane)], values[at(lane + delta < lanes ? lane + delta : lane)]));
  }
}

TYPED_TEST(CudaWarp, ReduceCombinesNeighboursFirst) {
  const auto values = lane_values<TypeParam>();
  auto expected = values;
  for (int width = 1; width < lanes; width *= 2)
    for (int lane = 0; lane < lanes; lane += 2 * width)
      expected[at(lane)] = combined(expected[at(lane)], expected[at(lane + width)]);
  EXPECT_TRUE(same_bytes(test::reduced(values).front(), expected.front()));
}

TYPED_TEST(CudaWarp, InclusiveScanAddsInKoggeAndStonesOrder) {
  const auto values = lane_values<TypeParam>();
  auto expected = values;
  for (int delta = 1; delta < lanes; delta *= 2)
    for (int lane = lanes - 1; lane >= delta; --lane)
      expected[at(lane)] = combined(expected[at(lane - delta)], expected[at(lane)]);
  const auto result = test::inclusively_scanned(values);
  for (int lane = 0; lane < lanes; ++lane)
    EXPECT_TRUE(same_bytes(result[at(lane)], expected[at(lane)])) << lane;
}

}  // namespace
}  // namespace warpfold::cuda
