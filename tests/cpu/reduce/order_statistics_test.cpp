#include "cpu/reduce/order_statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

namespace warpfold::cpu {
namespace {

template <class Key>
std::vector<Key> random_keys(std::size_t n, Key span, std::mt19937_64& random) {
  std::vector<Key> keys(n);
  const auto first = static_cast<Key>(random());
  for (Key& key : keys) key = static_cast<Key>(first + static_cast<Key>(random()) % span);
  return keys;
}

/// Keys all over the type, alike, close to one another, and at the type's ends.
template <class Key>
std::vector<std::vector<Key>> lines_of(std::size_t n) {
  constexpr Key greatest = std::numeric_limits<Key>::max();
  std::mt19937_64 random(n);
  std::vector<std::vector<Key>> lines;
  for (const Key span : {greatest, Key{1}, Key{2}, Key{100}})
    lines.push_back(random_keys<Key>(n, span, random));
  std::vector<Key>& ends = lines.emplace_back(n);
  for (Key& key : ends) key = random() % 3 == 0 ? greatest : static_cast<Key>(random() % 2);
  std::vector<Key>& far = lines.emplace_back(random_keys<Key>(n, Key{50}, random));
  far.front() = 0;
  far.back() = greatest;
  return lines;
}

template <class Key>
class OrderStatisticsOf : public ::testing::Test {};

using KeyTypes = ::testing::Types<std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(OrderStatisticsOf, KeyTypes);

TYPED_TEST(OrderStatisticsOf, AreThoseOfSortedKeys) {
  for (const Kernels* kernels : available_kernels()) {
    OrderStatistics<TypeParam> order(*kernels);
    for (const std::size_t n : {1u, 2u, 3u, 31u, 1000u, 20011u})
      for (std::vector<TypeParam>& keys : lines_of<TypeParam>(n)) {
        std::vector<TypeParam> sorted = keys;
        std::ranges::sort(sorted);
        for (const std::size_t searches : {1u, 100u}) {
          order.take(keys.data(), n, searches);
          for (std::size_t at = 0; at < n; at += 1 + n / 7) {
            ASSERT_EQ(order.at(at), sorted[at]) << kernels->name << ' ' << n << ' ' << at;
            if (at + 1 < n) {
              ASSERT_EQ(order.behind(at, sorted[at]), sorted[at + 1]) << kernels->name;
            }
          }
          ASSERT_EQ(order.at(n - 1), sorted.back());
        }
      }
  }
}

template <class T>
class OrderKernelsOf : public ::testing::Test {};

using IntegerTypes = ::testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t,
                                      std::uint8_t, std::uint16_t, std::uint32_t, std::uint64_t>;
TYPED_TEST_SUITE(OrderKernelsOf, IntegerTypes);

TYPED_TEST(OrderKernelsOf, CountAndFindTheLeast) {
  using Limits = std::numeric_limits<TypeParam>;
  std::mt19937_64 random(3);
  for (const Kernels* kernels : available_kernels()) {
    const auto& of_type = kernels_of<TypeParam>(*kernels);
    for (const std::size_t n : {0u, 1u, 17u, 255u, 256u, 5000u, 140'000u}) {
      std::vector<TypeParam> x(n);
      for (TypeParam& each : x) each = static_cast<TypeParam>(random());
      for (const TypeParam bound : {Limits::min(), TypeParam{0}, TypeParam{77}, Limits::max(),
                                    static_cast<TypeParam>(-9)}) {
        std::size_t below = 0;
        TypeParam least = Limits::max();
        for (const TypeParam each : x) {
          below += each < bound ? 1 : 0;
          if (each >= bound) least = std::min(least, each);
        }
        ASSERT_EQ(of_type.count_below(x.data(), n, bound), below) << kernels->name << ' ' << n;
        ASSERT_EQ(of_type.least_from(x.data(), n, bound), least) << kernels->name << ' ' << n;
      }
    }
  }
}

}  // namespace
}  // namespace warpfold::cpu
