#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>
#include <vector>

#include "cuda/primitives/warp_kernels.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::cuda {
namespace {

constexpr int lanes = 32;

std::size_t at(int lane) { return static_cast<std::size_t>(lane); }

template <class T>
T lane_value(std::mt19937_64& random) {
  if constexpr (std::is_same_v<T, Extremum>) {
    return {random() % 16, random() % 1000, random()};
  } else if constexpr (std::is_same_v<T, test::Affine>) {
    return {static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random())};
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
  } else if constexpr (std::is_same_v<T, test::Affine>) {
    return {a.factor * b.factor, a.offset * b.factor + b.offset};
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

using LaneTypes = ::testing::Types<std::int32_t, std::int64_t, int128, Extremum, test::Affine>;
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

TYPED_TEST(CudaWarp, ShuffleXorTakesTheLaneAcross) {
  const auto values = lane_values<TypeParam>();
  for (const int bits : {1, 2, 5, 16, 31}) {
    const auto result = test::shuffled_xor(values, bits);
    for (int lane = 0; lane < lanes; ++lane)
      EXPECT_TRUE(same_bytes(result[at(lane)], values[at(lane ^ bits)]));
  }
}

/// All values combined, neighbours first, pairs of neighbours next, and so on.
template <class T>
T combined_by_pairs(std::vector<T> values) {
  for (int width = 1; width < lanes; width *= 2)
    for (int lane = 0; lane < lanes; lane += 2 * width)
      values[at(lane)] = combined(values[at(lane)], values[at(lane + width)]);
  return values.front();
}

TYPED_TEST(CudaWarp, ReduceCombinesNeighboursFirst) {
  const auto values = lane_values<TypeParam>();
  const TypeParam expected = combined_by_pairs(values);
  EXPECT_TRUE(same_bytes(test::reduced(values).front(), expected));
  for (const TypeParam& value : test::reduced_xor(values)) EXPECT_TRUE(same_bytes(value, expected));
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

using CudaWarpVote = GpuTest;

/// Votes of no lane, of all, of one, and of some.
std::vector<std::vector<std::uint32_t>> votes() {
  std::vector<std::vector<std::uint32_t>> cases;
  for (const std::uint32_t mask : {0u, 0xffffffffu, 1u, 0x80000000u, 0x5a3c0ff1u}) {
    cases.emplace_back();
    for (int lane = 0; lane < lanes; ++lane) cases.back().push_back(mask & 1u << lane);
  }
  return cases;
}

std::uint32_t mask_of(const std::vector<std::uint32_t>& says) {
  std::uint32_t mask = 0;
  for (int lane = 0; lane < lanes; ++lane) mask |= (says[at(lane)] != 0 ? 1u : 0u) << lane;
  return mask;
}

TEST_F(CudaWarpVote, BallotAnyAndAllCountEveryLane) {
  for (const auto& says : votes()) {
    const std::uint32_t mask = mask_of(says);
    EXPECT_EQ(test::ballots(says), std::vector<std::uint32_t>(lanes, mask));
    EXPECT_EQ(test::anys(says), std::vector<std::uint32_t>(lanes, mask != 0 ? 1 : 0));
    EXPECT_EQ(test::alls(says), std::vector<std::uint32_t>(lanes, mask == 0xffffffffu ? 1 : 0));
  }
}

TEST_F(CudaWarpVote, RankCountsTheLanesBelow) {
  const std::uint32_t mask = 0x5a3c0ff1u;
  const auto ranks = test::ranks_among(std::vector<std::uint32_t>(lanes, mask));
  std::uint32_t below = 0;
  for (int lane = 0; lane < lanes; ++lane) {
    EXPECT_EQ(ranks[at(lane)], below);
    below += mask >> lane & 1;
  }
}

TEST_F(CudaWarpVote, SynchronizedLanesSeeWhatOthersWrote) {
  std::vector<std::uint32_t> values(lanes);
  std::iota(values.begin(), values.end(), 100u);
  for (const std::uint32_t mask : {0xffffffffu, 1u, 0x5a3c0ff1u}) {
    auto expected = values;
    std::vector<std::size_t> members;
    for (int lane = 0; lane < lanes; ++lane)
      if ((mask >> lane & 1) != 0) members.push_back(at(lane));
    for (std::size_t i = 0; i < members.size(); ++i)
      expected[members[i]] = values[members[(i + 1) % members.size()]];
    EXPECT_EQ(test::passed_down(values, mask), expected);
  }
}

template <class T>
class CudaWarpMatch : public GpuTest {};

using MatchTypes = ::testing::Types<std::int32_t, std::uint32_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(CudaWarpMatch, MatchTypes);

TYPED_TEST(CudaWarpMatch, LanesOfEqualValuesFindOneAnother) {
  std::vector<TypeParam> values(lanes);
  std::vector<std::uint32_t> groups(5, 0);
  for (int lane = 0; lane < lanes; ++lane) {
    const int group = lane * lane % 5;
    values[at(lane)] = static_cast<TypeParam>(group) - static_cast<TypeParam>(2);
    groups[at(group)] |= 1u << lane;
  }
  const auto matches = test::matches_any(values);
  for (int lane = 0; lane < lanes; ++lane)
    EXPECT_EQ(matches[at(lane)], groups[at(lane * lane % 5)]);
}

TYPED_TEST(CudaWarpMatch, AllMatchWhereNoneDiffers) {
  std::vector<TypeParam> values(lanes, static_cast<TypeParam>(-7));
  EXPECT_EQ(test::matches_any(values), std::vector<std::uint32_t>(lanes, 0xffffffffu));
}

}  // namespace
}  // namespace warpfold::cuda
