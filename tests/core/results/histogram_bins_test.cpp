#include "core/results/histogram_bins.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "core/numeric/special_values.hpp"
#include "core/results/usage.hpp"
#include "core/values/ordered_key.hpp"

namespace warpfold {
namespace {

/// Returns HistogramBins' counts of single values, each counted by keys as an engine would.
template <class T>
HistogramCounts counted(const std::vector<double>& edges, const std::vector<T>& values) {
  const HistogramBins bins(edges, element_type_of<T>());
  const auto& keys = bins.keys();
  HistogramCounts counts;
  counts.bins.resize(keys.size() - 1);
  for (const T value : values) {
    std::size_t region = 0;
    while (region < keys.size() && ordered_key(value) >= keys[region]) ++region;
    ++(region == 0 ? counts.below : region == keys.size() ? counts.above : counts.bins[region - 1]);
  }
  return bins.by_edges(counts);
}

void expect_usage_error(const auto& call, const std::string& part) {
  EXPECT_THAT(testing::usage_error_of(call).what(), ::testing::HasSubstr(part));
}

using Counts = std::vector<std::uint64_t>;

// As numpy.linspace(0.1, 0.7, 8) and numpy.linspace(-3, 1e10 / 3, 4) print them.
TEST(HistogramBins, EqualEdgesAreNumpys) {
  EXPECT_EQ(
      equal_edges(0.1, 0.7, 7),
      (std::vector<double>{0.1, 0.18571428571428572, 0.27142857142857146, 0.3571428571428571,
                           0.44285714285714284, 0.5285714285714286, 0.6142857142857142, 0.7}));
  EXPECT_EQ(
      equal_edges(-3, 1e10 / 3, 3),
      (std::vector<double>{-3.0, 1111111109.1111112, 2222222221.2222223, 3333333333.3333335}));
}

TEST(HistogramBins, ASingleNumberHasRoomAroundIt) {
  EXPECT_EQ(equal_edges(4, 4, 2), (std::vector<double>{3.5, 4.0, 4.5}));
  EXPECT_EQ(equal_edges(1e300, 1e300, 1),
            (std::vector<double>{std::nextafter(1e300, 0), std::nextafter(1e300, infinity)}));
}

TEST(HistogramBins, StepsBelowTheLeastNumberAreStillNumpys) {
  const double minimum = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(equal_edges(0, minimum, 4), (std::vector<double>{0, 0, 0, minimum, minimum}));
}

TEST(HistogramBins, BadRangesAreRefused) {
  expect_usage_error([] { equal_edges(2, 1, 3); }, "2 to 1");
  expect_usage_error([] { equal_edges(0, infinity, 3); }, "inf");
  expect_usage_error([] { equal_edges(-1e308, 1e308, 3); }, "distance");
  expect_usage_error([] { equal_edges(std::nan(""), 1, 3); }, "nan");
}

TEST(HistogramBins, EdgesThatRoundingLetsFallAreRefused) {
  const double minimum = std::numeric_limits<double>::denorm_min();
  expect_usage_error([=] { equal_edges(-92 * minimum, 86 * minimum, 64); },
                     "too far apart there for 64");
}

TEST(HistogramBins, EdgesMustRise) {
  expect_usage_error([] { check_edges(std::vector<double>{1}); }, "1 edges");
  expect_usage_error([] { check_edges(std::vector<double>{1, 1}); }, "do not rise");
  expect_usage_error([] { check_edges(std::vector<double>{1, std::nan(""), 3}); }, "do not rise");
  EXPECT_NO_THROW(check_edges(std::vector<double>{-infinity, 0, infinity}));
}

TEST(HistogramBins, TheLastBinIsClosed) {
  const auto counts = counted<double>({0, 1, 2}, {-1, 0, 0.5, 1, 2, std::nextafter(2, 3), -0.0});
  EXPECT_EQ(counts.bins, (Counts{3, 2}));
  EXPECT_EQ(counts.below, 1u);
  EXPECT_EQ(counts.above, 1u);
}

TEST(HistogramBins, EdgesBetweenIntegersAreRealNumbers) {
  const auto counts = counted<std::uint8_t>({0.5, 1, 1.25, 1.5, 2.5, 254.5}, {0, 1, 2, 254, 255});
  EXPECT_EQ(counts.bins, (Counts{0, 1, 0, 1, 1}));
  EXPECT_EQ(counts.below, 1u);
  EXPECT_EQ(counts.above, 1u);
}

TEST(HistogramBins, IntegersBeyond53BitsAreNotRounded) {
  const double edge = 9007199254740992;  // 2^53
  const auto counts = counted<std::int64_t>({-edge, edge, 0x1p62},
                                            {9007199254740991, 9007199254740992, 9007199254740993,
                                             -9007199254740993, (std::int64_t{1} << 62) + 1});
  EXPECT_EQ(counts.bins, (Counts{1, 2}));
  EXPECT_EQ(counts.below, 1u);
  EXPECT_EQ(counts.above, 1u);
}

TEST(HistogramBins, EdgesOutsideATypesValues) {
  constexpr auto maximum = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(counted<std::uint64_t>({-infinity, 1, infinity}, {0, maximum}).bins, (Counts{1, 1}));
  EXPECT_EQ(counted<std::uint64_t>({0, 0x1p64}, {0, maximum}).bins, (Counts{2}));
  EXPECT_EQ(counted<std::uint64_t>({0x1p64, 0x1p65}, {0, maximum}).below, 2u);
  EXPECT_EQ(counted<std::uint64_t>({-2, -1}, {0, maximum}).above, 2u);
  EXPECT_EQ(counted<std::int8_t>({-1000, 1000}, {-128, 127}).bins, (Counts{2}));
}

TEST(HistogramBins, InfinitiesFallIntoBinsThatReachThem) {
  const auto closed = counted<float>(
      {-infinity, 0, infinity},
      {-std::numeric_limits<float>::infinity(), 1, std::numeric_limits<float>::infinity()});
  EXPECT_EQ(closed.bins, (Counts{1, 2}));
  const auto open = counted<float>({0, 1e300}, {std::numeric_limits<float>::infinity()});
  EXPECT_EQ(open.above, 1u);
}

TEST(HistogramCounts, RepeatingMultipliesEachCount) {
  constexpr std::uint64_t times = std::uint64_t{1} << 40;
  HistogramCounts counts{{1, 0, 2}, 3, 4, 5};
  counts.repeat(times);
  EXPECT_EQ(counts.bins, (Counts{times, 0, 2 * times}));
  EXPECT_EQ(counts.below, 3 * times);
  EXPECT_EQ(counts.above, 4 * times);
  EXPECT_EQ(counts.nan, 5 * times);
}

TEST(HistogramBins, KeysRise) {
  const HistogramBins bins(equal_edges(0, 3, 1000), ElementType::u8);
  EXPECT_EQ(bins.keys(), (Counts{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace warpfold
