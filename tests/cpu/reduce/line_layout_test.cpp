#include "cpu/reduce/line_layout.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace warpfold::cpu {
namespace {

/// Expects that lines in row-major order of the other dimensions have the elements of NumPy's
/// moveaxis(), by their flat indices.
void expect_lines(const std::vector<std::uint64_t>& shape, const std::vector<int>& along,
                  std::uint64_t beside, std::uint64_t run) {
  const LineLayout layout(shape, along);
  std::vector<std::vector<std::uint64_t>> lines(layout.lines);
  for (std::uint64_t index = 0; index < product(shape); ++index) {
    std::uint64_t line = 0;
    std::uint64_t rest = index;
    std::uint64_t lines_inside = 1;
    for (std::size_t d = shape.size(); d-- > 0;) {
      if (std::ranges::count(along, static_cast<int>(d)) == 0) {
        line += rest % shape[d] * lines_inside;
        lines_inside *= shape[d];
      }
      rest /= shape[d];
    }
    lines[line].push_back(index);
  }
  for (std::uint64_t line = 0; line < layout.lines; ++line) {
    ASSERT_EQ(lines[line].size(), layout.length);
    for (std::uint64_t i = 0; i < layout.length; ++i)
      ASSERT_EQ(layout.first(line) + layout.within(i), lines[line][i]) << line << ' ' << i;
  }
  EXPECT_EQ(layout.beside, beside);
  EXPECT_EQ(layout.run, run);
}

TEST(LineLayout, FindsElementsOfLines) {
  expect_lines({5}, {0}, 1, 5);
  expect_lines({4, 5}, {0}, 5, 1);
  expect_lines({4, 5}, {1}, 1, 5);
  expect_lines({4, 5, 6}, {0}, 30, 1);
  expect_lines({4, 5, 6}, {1}, 6, 1);
  expect_lines({4, 5, 6}, {2}, 1, 6);
  expect_lines({4, 5, 6}, {0, 2}, 1, 6);
  expect_lines({4, 5, 6}, {1, 2}, 1, 30);
  expect_lines({4, 5, 6}, {0, 1, 2}, 1, 120);
  expect_lines({3, 4, 5, 2}, {0, 2}, 2, 1);
}

TEST(LineLayout, KnowsDimensionsOfOneIndex) {
  expect_lines({1, 1}, {0}, 1, 1);
  expect_lines({4, 1}, {0}, 1, 4);
  expect_lines({4, 1, 1}, {2}, 4, 1);
  expect_lines({1, 6, 1}, {0}, 6, 1);
  expect_lines({3, 1, 5}, {1}, 15, 1);
}

}  // namespace
}  // namespace warpfold::cpu
