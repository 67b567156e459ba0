#include "cuda/histogram/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

using kernels::bin_index;

/// Every edge, what is next to it and what is between is found where std::upper_bound() finds it.
template <class T>
void expect_found(std::vector<T> edges) {
  std::vector<std::uint64_t> keys;
  for (const T edge : edges) keys.push_back(ordered_key(edge));
  std::ranges::sort(keys);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  const kernels::BinIndex index = bin_index(element_type_of<T>(), keys);
  ASSERT_EQ(index.first_bins.size(), keys.size());
  const kernels::BinTable table{keys.data(), index.cells, index.first_bins.data()};
  std::vector<T> values = sample<T>(Sample::wide, 10000, 1);
  values.insert(values.end(), edges.begin(), edges.end());
  for (const T edge : edges) {
    if constexpr (std::is_integral_v<T>) {
      values.push_back(static_cast<T>(edge - 1));
    } else {
      values.push_back(std::nextafter(edge, -std::numeric_limits<T>::infinity()));
      values.push_back(edge / 2);
    }
  }
  for (const T value : values) {
    const std::uint64_t key = ordered_key(value);
    if (key < keys.front() || key >= keys.back()) continue;
    const auto position =
        index.cells.by_value ? widened(value) : static_cast<double>(key - keys.front());
    const auto above = std::ranges::upper_bound(keys, key);
    EXPECT_EQ(kernels::find_bin(table, key, index.cells.cell_of(position)),
              above - keys.begin() - 1);
  }
}

std::vector<double> even(double first, double last, int bins) {
  std::vector<double> edges;
  for (int i = 0; i <= bins; ++i) edges.push_back(first + (last - first) * i / bins);
  return edges;
}

TEST(BinCells, FindBinsOfEqualWidth) {
  expect_found(even(0, 1, 1));
  expect_found(even(-3, 5, 1000));
  expect_found(even(-1e308, 1e308, 777));
  expect_found(even(0, 0x1p-1070, 10));
}

TEST(BinCells, FindBinsOfAnyWidth) {
  std::vector<double> edges{0, -1e-300, std::numeric_limits<double>::infinity()};
  for (int i = -300; i <= 300; ++i) edges.push_back(std::pow(10.0, i));
  expect_found(edges);
  expect_found(sample<double>(Sample::wide, 5000, 3));
  expect_found(sample<float>(Sample::wide, 5000, 4));
  expect_found(std::vector<float>{1});
}

TEST(BinCells, FindBinsOfIntegers) {
  expect_found(sample<std::int64_t>(Sample::wide, 5000, 3));
  expect_found(sample<std::uint64_t>(Sample::uniform, 5000, 4));
  expect_found(sample<std::uint8_t>(Sample::uniform, 300, 5));
}

TEST(BinCells, SuitTheirEdges) {
  std::vector<std::uint64_t> keys;
  for (const double edge : even(0, 1, 1000)) keys.push_back(ordered_key(edge));
  EXPECT_TRUE(bin_index(ElementType::f64, keys).cells.by_value);
  keys.clear();
  for (int i = 0; i < 1000; ++i) keys.push_back(ordered_key(std::ldexp(1.0, i)));
  EXPECT_FALSE(bin_index(ElementType::f64, keys).cells.by_value);
}

}  // namespace
}  // namespace warpfold::cuda
