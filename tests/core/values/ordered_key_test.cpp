#include "core/values/ordered_key.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace warpfold {
namespace {

template <class T>
void expect_ascending(const std::vector<T>& elements) {
  for (std::size_t i = 1; i < elements.size(); ++i)
    EXPECT_LT(ordered_key(elements[i - 1]), ordered_key(elements[i])) << i;
}

template <class T>
void expect_ascending_floats() {
  using Limits = std::numeric_limits<T>;
  expect_ascending<T>({-Limits::infinity(), Limits::lowest(), T{-1.5}, T{-1}, -Limits::min(),
                       -Limits::denorm_min(), T{0}, Limits::denorm_min(), Limits::min(), T{1},
                       T{1.5}, Limits::max(), Limits::infinity()});
  EXPECT_EQ(ordered_key(T{-0.0}), ordered_key(T{0.0}));
}

template <class T>
void expect_ascending_integers() {
  using Limits = std::numeric_limits<T>;
  const T middle = static_cast<T>(Limits::max() / 2);
  expect_ascending<T>({Limits::min(), Limits::min() + 1, middle, Limits::max() - 1, Limits::max()});
  if constexpr (std::is_signed_v<T>) expect_ascending<T>({Limits::min(), -1, 0, 1, Limits::max()});
}

template <class Half>
void expect_order_of_values() {
  for (std::uint32_t a = 0; a < 0x10000u; a += 5)
    for (std::uint32_t b = a % 251; b < 0x10000u; b += 251) {
      const Half left{static_cast<std::uint16_t>(a)};
      const Half right{static_cast<std::uint16_t>(b)};
      if (std::isnan(left.to_float()) || std::isnan(right.to_float())) continue;
      ASSERT_EQ(ordered_key(left) < ordered_key(right), left.to_float() < right.to_float());
      ASSERT_EQ(ordered_key(left) == ordered_key(right), left.to_float() == right.to_float());
    }
}

TEST(OrderedKey, OfFloats) {
  expect_ascending_floats<float>();
  expect_ascending_floats<double>();
}

TEST(OrderedKey, Of16BitFloats) {
  expect_order_of_values<Float16>();
  expect_order_of_values<BFloat16>();
}

TEST(OrderedKey, OfIntegers) {
  expect_ascending_integers<std::int8_t>();
  expect_ascending_integers<std::int16_t>();
  expect_ascending_integers<std::int32_t>();
  expect_ascending_integers<std::int64_t>();
  expect_ascending_integers<std::uint8_t>();
  expect_ascending_integers<std::uint16_t>();
  expect_ascending_integers<std::uint32_t>();
  expect_ascending_integers<std::uint64_t>();
}

TEST(ValueBits, KeepTheValue) {
  EXPECT_EQ(value_bits(std::int8_t{-1}), ~std::uint64_t{0});
  EXPECT_EQ(value_bits(std::uint8_t{255}), 255u);
  EXPECT_EQ(value_bits(1.0f), 0x3ff0000000000000u);
  EXPECT_EQ(value_bits(-0.0), 0x8000000000000000u);
  EXPECT_EQ(value_bits(Float16{0xc000}), 0xc000000000000000u);
}

template <class T>
void expect_restored(T value, ElementType type) {
  EXPECT_EQ(bits_of_key(ordered_key(value), type), value_bits(value));
  EXPECT_EQ(element_of_bits<T>(value_bits(value)), value);
}

TEST(OrderedKey, GivesTheValueBack) {
  for (const double value : {-1e300, -2.5, -0x1p-1074, 0.0, 0x1p-1074, 1.0, 1e300})
    expect_restored(value, ElementType::f64);
  for (const float value : {-3e38f, -0.1f, 0.0f, 0x1p-149f, 3e38f})
    expect_restored(value, ElementType::f32);
  for (const int value : {-128, -1, 0, 1, 127})
    expect_restored(static_cast<std::int8_t>(value), ElementType::i8);
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{1}, ~std::uint64_t{0}})
    expect_restored(value, ElementType::u64);
}

template <class T>
void expect_dense(const std::vector<T>& neighbours) {
  for (std::size_t i = 0; i < neighbours.size(); ++i) {
    const Word<T> key = dense_key(neighbours[i]);
    EXPECT_EQ(widened(element_of_dense_key<T>(key)), widened(neighbours[i])) << i;
    EXPECT_EQ(key, static_cast<Word<T>>(dense_key(neighbours.front()) + i)) << i;
  }
}

TEST(DenseKey, FollowsWhereValuesDo) {
  expect_dense<double>({-0x1p-1073, -0x1p-1074, 0, 0x1p-1074, 0x1p-1073});
  expect_dense<float>({1, std::nextafter(1.0f, 2.0f)});
  expect_dense<float>({std::numeric_limits<float>::max(), std::numeric_limits<float>::infinity()});
  expect_dense<Float16>({Float16{0x8001}, Float16{0x0000}, Float16{0x0001}});
  expect_dense<BFloat16>({BFloat16{0xff80}, BFloat16{0xff7f}});
  expect_dense<std::int8_t>({-2, -1, 0, 1});
  expect_dense<std::uint16_t>({0x7fff, 0x8000});
  expect_dense<std::int64_t>({-1, 0});
  EXPECT_EQ(dense_key(-0.0), dense_key(0.0));
  EXPECT_EQ(dense_key(Float16{0x8000}), dense_key(Float16{0x0000}));
  EXPECT_EQ(dense_key(std::numeric_limits<std::int32_t>::min()), 0u);
  EXPECT_EQ(dense_key(~std::uint64_t{0}), ~std::uint64_t{0});
}

}  // namespace
}  // namespace warpfold
