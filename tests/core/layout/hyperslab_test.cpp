#include "core/layout/hyperslab.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace warpfold {
namespace {

using Shape = std::vector<std::uint64_t>;

std::uint64_t elements_in(const Shape& shape) {
  std::uint64_t elements = 1;
  for (const std::uint64_t extent : shape) elements *= extent;
  return elements;
}

std::vector<std::uint64_t> coordinates(const Shape& shape, std::uint64_t index) {
  std::vector<std::uint64_t> result(shape.size());
  for (std::size_t d = shape.size(); d-- > 0;) {
    result[d] = index % shape[d];
    index /= shape[d];
  }
  return result;
}

bool lies_in(const Hyperslab& slab, const std::vector<std::uint64_t>& point) {
  for (std::size_t d = 0; d < point.size(); ++d) {
    if (point[d] < slab.start[d] || point[d] >= slab.start[d] + slab.count[d]) return false;
  }
  return true;
}

/// The flat indices of a slab's elements, found by asking every element of the array.
std::vector<std::uint64_t> members(const Shape& shape, const Hyperslab& slab) {
  std::vector<std::uint64_t> result;
  for (std::uint64_t i = 0; i < elements_in(shape); ++i) {
    if (lies_in(slab, coordinates(shape, i))) result.push_back(i);
  }
  return result;
}

/// Whether elements [first, end) are all elements between their lowest and highest coordinates.
bool is_box(const Shape& shape, std::uint64_t first, std::uint64_t end) {
  Hyperslab bounds{coordinates(shape, first), Shape(shape.size())};
  auto highest = bounds.start;
  for (std::uint64_t i = first; i < end; ++i) {
    const auto point = coordinates(shape, i);
    for (std::size_t d = 0; d < shape.size(); ++d) {
      bounds.start[d] = std::min(bounds.start[d], point[d]);
      highest[d] = std::max(highest[d], point[d]);
    }
  }
  std::uint64_t volume = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) volume *= highest[d] - bounds.start[d] + 1;
  return volume == end - first;
}

class HyperslabsOf : public ::testing::TestWithParam<Shape> {};

TEST_P(HyperslabsOf, HoldEveryRangeOnceInOrder) {
  const Shape& shape = GetParam();
  const std::uint64_t elements = elements_in(shape);
  for (std::uint64_t first = 0; first <= elements; ++first) {
    for (std::uint64_t count = 0; first + count <= elements; ++count) {
      std::vector<std::uint64_t> held;
      for (const Hyperslab& slab : hyperslabs_of(shape, {first, count})) {
        const auto inside = members(shape, slab);
        ASSERT_EQ(inside.size(), slab.elements());
        held.insert(held.end(), inside.begin(), inside.end());
      }
      std::vector<std::uint64_t> expected(count);
      for (std::uint64_t i = 0; i < count; ++i) expected[i] = first + i;
      ASSERT_EQ(held, expected) << first << " " << count;
    }
  }
}

TEST_P(HyperslabsOf, AreTheFewest) {
  const Shape& shape = GetParam();
  const std::uint64_t elements = elements_in(shape);
  for (std::uint64_t first = 0; first < elements; ++first) {
    // fewest[k]: the fewest boxes that cover [first, first + k), by dynamic programming.
    std::vector<std::size_t> fewest{0};
    for (std::uint64_t count = 1; first + count <= elements; ++count) {
      std::size_t best = count;
      for (std::uint64_t head = 0; head < count; ++head) {
        if (is_box(shape, first + head, first + count)) best = std::min(best, fewest[head] + 1);
      }
      fewest.push_back(best);
      const std::size_t used = hyperslabs_of(shape, {first, count}).size();
      ASSERT_EQ(used, best) << first << " " << count;
      ASSERT_LE(used, 2 * shape.size() - 1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SmallShapes, HyperslabsOf,
                         ::testing::Values(Shape{1}, Shape{9}, Shape{4, 5}, Shape{1, 6},
                                           Shape{6, 1}, Shape{3, 4, 5}, Shape{2, 1, 6},
                                           Shape{1, 1, 1}, Shape{2, 3, 2, 4}, Shape{3, 1, 4, 2}));

TEST(HyperslabsOfLargeShapes, CountIn64Bits) {
  const Shape shape{std::uint64_t{1} << 33, 1024};
  const std::uint64_t first = (std::uint64_t{1} << 42) + 7;
  const auto slabs = hyperslabs_of(shape, {first, 1024});
  ASSERT_EQ(slabs.size(), 2U);
  EXPECT_EQ(slabs[0], (Hyperslab{{std::uint64_t{1} << 32, 7}, {1, 1017}}));
  EXPECT_EQ(slabs[1], (Hyperslab{{(std::uint64_t{1} << 32) + 1, 0}, {1, 7}}));
}

TEST(SliceWithin, TakesTheIndicesThatTheSliceTakes) {
  for (const Slice& slice :
       {Slice{0, 20}, Slice{3, 4, 5}, Slice{7, 1}, Slice{2, 0}, Slice{0, 3, 9}})
    for (std::uint64_t first = 0; first <= 20; ++first)
      for (std::uint64_t count = 0; first + count <= 20; ++count) {
        std::vector<std::uint64_t> expected, taken;
        for (std::uint64_t i = 0; i < slice.count; ++i) {
          const std::uint64_t index = slice.start + i * slice.step;
          if (index >= first && index < first + count) expected.push_back(index - first);
        }
        const Slice within = slice_within(slice, {first, count});
        for (std::uint64_t i = 0; i < within.count; ++i)
          taken.push_back(within.start + i * within.step);
        ASSERT_EQ(taken, expected) << first << " " << count;
      }
}

}  // namespace
}  // namespace warpfold
