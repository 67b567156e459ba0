#include "core/results/order_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <random>
#include <vector>

#include "core/values/ordered_key.hpp"

namespace warpfold {
namespace {

/// Elements of any bits, many of them equal or next to each other, and the ends of the type.
template <class T>
std::vector<T> elements_of_any_bits(std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<T> elements;
  for (std::size_t i = 0; i < count; ++i)
    elements.push_back(
        std::bit_cast<T>(static_cast<Word<T>>(i % 3 == 0 ? random() : random() % 50 + 1)));
  const KeyRange all = OrderSearch(element_type_of<T>(), 1).open().front();
  for (const std::uint64_t end : {all.first, all.last})
    elements.push_back(element_of_dense_key<T>(static_cast<Word<T>>(end)));
  return elements;
}

template <class T>
bool is_not_nan(T value) {
  if constexpr (is_floating_element<T>) return !std::isnan(widened(value));
  return true;
}

/// As an engine counts.
HistogramCounts counted_by_keys(const std::vector<std::uint64_t>& bin_keys,
                                const std::vector<std::uint64_t>& element_keys) {
  HistogramCounts counts{std::vector<std::uint64_t>(bin_keys.size() - 1)};
  for (const std::uint64_t key : element_keys) {
    const auto region = std::ranges::upper_bound(bin_keys, key) - bin_keys.begin();
    const auto passed = static_cast<std::size_t>(region);
    ++(passed == 0                 ? counts.below
       : passed == bin_keys.size() ? counts.above
                                   : counts.bins[passed - 1]);
  }
  return counts;
}

template <class T>
class OrderSearchOf : public ::testing::Test {
 protected:
  static constexpr ElementType type = element_type_of<T>();

  void SetUp() override {
    for (const T element : elements_of_any_bits<T>(2000))
      if (is_not_nan(element)) keys_.push_back(ordered_key(element));
    std::ranges::sort(keys_);
  }

  /// Finds the values of `orders`; returns how many passes that took.
  int find(const std::vector<std::uint64_t>& orders, std::uint64_t elements, std::size_t max_bins) {
    OrderSearch search(type, elements);
    int passes = 0;
    for (; !search.open().empty(); ++passes) {
      const std::vector<std::uint64_t> bins = search.bin_keys();
      EXPECT_TRUE(std::ranges::is_sorted(bins, std::ranges::less_equal()));
      EXPECT_LE(bins.size(), max_bins);
      search.narrow(counted_by_keys(bins, keys_), orders);
    }
    for (std::size_t i = 0; i < orders.size(); ++i)
      EXPECT_EQ(search.value(i), value_of_bits(bits_of_key(keys_[orders[i]], type), type)) << i;
    return passes;
  }

  std::vector<std::uint64_t> keys_;  ///< keys of the elements, sorted
};

using Types =
    ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                     std::uint16_t, std::uint32_t, std::uint64_t, Float16, BFloat16, float, double>;
TYPED_TEST_SUITE(OrderSearchOf, Types);

constexpr std::size_t bins_of_few = (std::size_t{1} << 17) + 3;

TYPED_TEST(OrderSearchOf, FindsEveryOrder) {
  std::vector<std::uint64_t> orders(this->keys_.size());
  std::iota(orders.begin(), orders.end(), std::uint64_t{0});
  this->find(orders, 2000, bins_of_few + 2 * orders.size());
}

TYPED_TEST(OrderSearchOf, TakesFewPasses) {
  constexpr int size = sizeof(TypeParam);
  const std::uint64_t middle = this->keys_.size() / 2;
  EXPECT_EQ(this->find({middle}, 2000, bins_of_few), size <= 2 ? 1 : size / 2);
  constexpr std::size_t most_bins = (std::size_t{1} << 22) + 3;
  const std::uint64_t last = this->keys_.size() - 1;
  EXPECT_EQ(this->find({0, last}, std::uint64_t{1} << 24, most_bins), size <= 2   ? 1
                                                                      : size == 4 ? 2
                                                                                  : 3);
}

TYPED_TEST(OrderSearchOf, NoOrdersNeedNoMorePasses) {
  OrderSearch search(this->type, 0);
  search.narrow(counted_by_keys(search.bin_keys(), {}), {});
  EXPECT_TRUE(search.open().empty());
}

TYPED_TEST(OrderSearchOf, GoesOnWithAnothersRanges) {
  const std::vector<std::uint64_t> orders{3, this->keys_.size() - 4};
  OrderSearch first(this->type, 2000);
  first.narrow(counted_by_keys(first.bin_keys(), this->keys_), orders);
  OrderSearch second(this->type, 2000);
  second.set_open(first.open());
  EXPECT_EQ(second.open(), first.open());
  EXPECT_EQ(second.bin_keys(), first.bin_keys());
}

}  // namespace
}  // namespace warpfold
