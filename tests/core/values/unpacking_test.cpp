#include "core/values/unpacking.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>

#include "core/values/decoding.hpp"

namespace warpfold {
namespace {

TEST(Unpacking, ProductAndSumHaveTypesOfTheirOwn) {
  const auto decoded = [](auto stored, auto value, const Unpacking& unpacking) {
    Decoding decoding;
    decoding.unpacking = unpacking;
    EXPECT_TRUE(decode(decoding, stored, value));
    return value;
  };
  const auto number = [](ElementType type, Value value) { return TypedNumber{type, value}; };
  const auto tenth = number(ElementType::f32, static_cast<double>(0.1f));
  const Unpacking narrow = make_unpacking(ElementType::i16, tenth, number(ElementType::f64, 0.3));
  EXPECT_EQ(decoded(std::int16_t{7}, double{}, narrow), static_cast<double>(7 * 0.1f) + 0.3);
  const Unpacking wide = make_unpacking(ElementType::i32, tenth, std::nullopt);
  EXPECT_EQ(decoded(std::int32_t{123456789}, double{}, wide),
            123456789 * static_cast<double>(0.1f));
  const Unpacking whole = make_unpacking(ElementType::u8, number(ElementType::i8, int128{-100}),
                                         number(ElementType::i16, int128{5}));
  EXPECT_EQ(whole.type, ElementType::i64);
  EXPECT_EQ(decoded(std::uint8_t{255}, std::int64_t{}, whole), -25495);
  const Unpacking exact = make_unpacking(ElementType::u64, number(ElementType::u8, int128{1}),
                                         number(ElementType::u64, int128{1}));
  EXPECT_EQ(decoded(~std::uint64_t{1}, std::uint64_t{}, exact), ~std::uint64_t{0});
  EXPECT_EQ(make_unpacking(ElementType::u64, number(ElementType::i8, int128{1}), {}).type,
            ElementType::f64);
}

}  // namespace
}  // namespace warpfold
