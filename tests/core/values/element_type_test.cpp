#include "warpfold/core/element_type.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::usage_error_of;

TEST(ElementType, IsThatOfTheCppTypeThatStoresIt) {
  for (const ElementType type : all_element_types)
    EXPECT_EQ(visit_element_type(type, [](auto e) { return element_type_of<decltype(e)>(); }),
              type);
  EXPECT_EQ(size_of(element_type_of<long>()), sizeof(long));
  EXPECT_EQ(element_type_of<unsigned long long>(), ElementType::u64);
}

TEST(ElementType, NamesSizesAndKinds) {
  struct Row {
    ElementType type;
    std::string_view name;
    std::size_t size;
    bool integer;
    bool is_signed;
  };
  const Row rows[] = {
      {ElementType::i8, "i8", 1, true, true},     {ElementType::i16, "i16", 2, true, true},
      {ElementType::i32, "i32", 4, true, true},   {ElementType::i64, "i64", 8, true, true},
      {ElementType::u8, "u8", 1, true, false},    {ElementType::u16, "u16", 2, true, false},
      {ElementType::u32, "u32", 4, true, false},  {ElementType::u64, "u64", 8, true, false},
      {ElementType::f16, "f16", 2, false, false}, {ElementType::bf16, "bf16", 2, false, false},
      {ElementType::f32, "f32", 4, false, false}, {ElementType::f64, "f64", 8, false, false},
  };
  ASSERT_EQ(std::size(rows), std::size(all_element_types));
  for (const Row& row : rows) {
    EXPECT_EQ(name_of(row.type), row.name);
    EXPECT_EQ(parse_element_type(row.name), row.type);
    EXPECT_EQ(size_of(row.type), row.size) << row.name;
    EXPECT_EQ(is_integer(row.type), row.integer) << row.name;
    EXPECT_EQ(is_signed_integer(row.type), row.is_signed) << row.name;
    EXPECT_EQ(is_floating(row.type), !row.integer) << row.name;
  }
}

TEST(ElementType, AreKnownByNumPysNames) {
  for (const ElementType type : all_element_types) {
    std::string name(name_of(type));
    name.replace(0, name.find_first_of("123456789"),
                 type == ElementType::bf16 ? "bfloat"
                 : is_floating(type)       ? "float"
                 : is_signed_integer(type) ? "int"
                                           : "uint");
    EXPECT_EQ(parse_element_type(name), type) << name;
  }
  for (const std::string_view other : {"<f4", "int", "float8", "loat32", "bint16", "float"})
    EXPECT_THROW((void)parse_element_type(other), Error) << other;
}

TEST(ElementType, AllTypesAreListedOnce) {
  EXPECT_EQ(std::set(std::begin(all_element_types), std::end(all_element_types)).size(), 12u);
}

TEST(ElementType, VisitsTheStoringType) {
  const auto is_visited_as = []<class Expected>(ElementType type, Expected) {
    return visit_element_type(
        type, [](auto element) { return std::is_same_v<decltype(element), Expected>; });
  };
  EXPECT_TRUE(is_visited_as(ElementType::i8, std::int8_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::i16, std::int16_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::i32, std::int32_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::i64, std::int64_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::u8, std::uint8_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::u16, std::uint16_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::u32, std::uint32_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::u64, std::uint64_t{}));
  EXPECT_TRUE(is_visited_as(ElementType::f16, Float16{}));
  EXPECT_TRUE(is_visited_as(ElementType::bf16, BFloat16{}));
  EXPECT_TRUE(is_visited_as(ElementType::f32, float{}));
  EXPECT_TRUE(is_visited_as(ElementType::f64, double{}));
}

TEST(ElementType, UnknownNamesListTheKnownOnes) {
  const Error error = usage_error_of([] { parse_element_type("F64"); });
  EXPECT_EQ(error.problem(), "unknown element type 'F64'");
  EXPECT_EQ(
      error.suggestion(),
      "Choose from i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64, or write float32 "
      "for f32.");
  EXPECT_EQ(usage_error_of([] { parse_element_type(""); }).problem(), "unknown element type ''");
}

}  // namespace
}  // namespace warpfold
