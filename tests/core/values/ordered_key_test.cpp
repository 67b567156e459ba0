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

}  // namespace
}  // namespace warpfold
