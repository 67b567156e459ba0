#include "core/values/value_filters.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::usage_error_of;

/// How each element compares with a number: '<', '=', '>', or '?' for NaN.
struct NumberCase {
  std::string number;
  std::string orders;
};

struct ListCase {
  std::vector<std::string> conditions;
  std::string kept;
};

ValueFilter filter_without_fill_value(std::string_view text, ElementType type) {
  const std::vector<Value> left_out{parse_fill_value(text, type)};
  return filter_of_stored(left_out, {}, {}, type);
}

struct TypeCases {
  ElementType type;
  std::vector<std::uint64_t> elements;  ///< as stored
  std::vector<NumberCase> numbers;
  std::vector<ListCase> lists;
};

const std::vector<TypeCases>& type_cases() {
  static const std::vector<TypeCases> cases{
#include "core/values/filter_cases.inc"
  };
  return cases;
}

std::string kept(const ValueFilter& filter, ElementType type,
                 const std::vector<std::uint64_t>& elements) {
  return visit_element_type(type, [&](auto element) {
    std::string flags;
    for (const std::uint64_t bits : elements) {
      std::memcpy(static_cast<void*>(&element), &bits, sizeof(element));
      flags += filter.selects(element) ? '1' : '0';
    }
    return flags;
  });
}

std::string kept(const std::vector<std::string>& conditions, const TypeCases& cases) {
  return kept(filter_of_conditions(conditions, cases.type), cases.type, cases.elements);
}

/// '1' where the order is one of `wanted`.
std::string flags(const std::string& orders, const std::string& wanted) {
  std::string flags;
  for (const char order : orders) flags += wanted.find(order) != std::string::npos ? '1' : '0';
  return flags;
}

template <class T>
bool selects(const ValueFilter& filter, T value) {
  return filter.selects(value);
}

TEST(ValueFilters, CompareElementsWithTheNumberThatIsWritten) {
  const std::vector<std::pair<std::string, std::string>> relations{
      {"<", "<"}, {"<=", "<="}, {">", ">"}, {">=", ">="}, {"==", "="}, {"!=", "<>?"}};
  for (const TypeCases& cases : type_cases())
    for (const NumberCase& number : cases.numbers)
      for (const auto& [relation, wanted] : relations)
        EXPECT_EQ(kept({relation + number.number}, cases), flags(number.orders, wanted))
            << name_of(cases.type) << ' ' << relation << number.number;
}

TEST(ValueFilters, TakeWhatMeetsAllConditions) {
  for (const TypeCases& cases : type_cases())
    for (const ListCase& list : cases.lists)
      EXPECT_EQ(kept(list.conditions, cases), list.kept)
          << name_of(cases.type) << ' ' << ::testing::PrintToString(list.conditions);
}

TEST(ValueFilters, WithoutConditionsKeepEverything) {
  for (const ElementType type : all_element_types)
    EXPECT_TRUE(filter_of_conditions({}, type).selects_all());
  EXPECT_TRUE(filter_of_conditions(std::vector<std::string>{">=0", "!=0.5"}, ElementType::u8)
                  .selects_all());
}

TEST(ValueFilters, RefuseWhatIsNoCondition) {
  for (const char* text :
       {"",       " ",     "=5",  "5",       "<",    "<>5",      "!5",     "=>5",  "< ",   "<1e",
        "<1.2.3", "<.",    "<0x", "<0xg",    "<1p3", "<0x1e5.p", "<1e+-3", "<--1", "<1 2", "<1,5",
        "< five", "fnite", "NaN", "not nan", "<nan", ">=nan",    "<=NaN",  "<1e1x"}) {
    const std::vector<std::string> conditions{"!=1", text};
    const Error error = usage_error_of([&] { filter_of_conditions(conditions, ElementType::f64); });
    EXPECT_TRUE(error.problem().starts_with("bad condition '")) << text;
    EXPECT_NE(error.suggestion().find("<, <=, >, >=, ==, !="), std::string::npos) << text;
  }
  for (const char* text : {">5,<7", ">= 5 & <7", "!=1 !=2"}) {
    const std::vector<std::string> conditions{text};
    const Error error = usage_error_of([&] { filter_of_conditions(conditions, ElementType::f64); });
    EXPECT_NE(error.why().find("a `where` of its own"), std::string::npos) << text;
  }
  const std::vector<std::string> endless{"<1" + std::string(5000, '0')};
  usage_error_of([&] { filter_of_conditions(endless, ElementType::f64); });
}

TEST(ValueFilters, LeaveOutAsManySingleValuesAsTheyCan) {
  std::vector<std::string> conditions;
  for (int i = 0; i < ValueFilter::max_excluded; ++i)
    conditions.push_back("!=" + std::to_string(i));
  const ValueFilter filter = filter_of_conditions(conditions, ElementType::i16);
  for (std::int16_t value = -1; value < 10; ++value)
    EXPECT_EQ(selects(filter, value), value < 0 || value >= ValueFilter::max_excluded);
  conditions.push_back("!=100");
  usage_error_of([&] { filter_of_conditions(conditions, ElementType::i16); });
  conditions.push_back("<100");
  EXPECT_FALSE(filter_of_conditions(conditions, ElementType::i16).selects(std::int16_t{3}));
}

TEST(ValueFilters, FillValuesAreTheNearestOfAFloatingPointType) {
  const ValueFilter f32 = filter_without_fill_value("1e20", ElementType::f32);
  EXPECT_FALSE(selects(f32, 1e20f));
  EXPECT_TRUE(selects(f32, std::nextafterf(1e20f, 0)));
  EXPECT_TRUE(selects(f32, std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(selects(filter_without_fill_value("0.1", ElementType::f64), 0.1));
  EXPECT_FALSE(selects(filter_without_fill_value("0.1", ElementType::f16), Float16{0x2e66}));
  EXPECT_FALSE(selects(filter_without_fill_value("-0.1", ElementType::bf16), BFloat16{0xbdcd}));
  EXPECT_FALSE(selects(filter_without_fill_value("nan", ElementType::f32),
                       std::numeric_limits<float>::quiet_NaN()));
  EXPECT_FALSE(selects(filter_without_fill_value("-inf", ElementType::f64), -infinity));
  EXPECT_FALSE(selects(filter_without_fill_value("-0.0", ElementType::f64), 0.0));
}

TEST(ValueFilters, FillValuesAreRoundedOnce) {
  // Just above the midpoint of 1 and the next float: the nearest double is the midpoint itself.
  const ValueFilter above =
      filter_without_fill_value("1.00000005960464477539062500000000001", ElementType::f32);
  EXPECT_FALSE(selects(above, std::nextafterf(1, 2)));
  EXPECT_FALSE(
      selects(filter_without_fill_value("1.000000059604644775390625", ElementType::f32), 1.0f));
  EXPECT_FALSE(selects(filter_without_fill_value("2.4703282292062328e-324", ElementType::f64),
                       std::numeric_limits<double>::denorm_min()));
  EXPECT_FALSE(
      selects(filter_without_fill_value("2.4703282292062327e-324", ElementType::f64), 0.0));
  EXPECT_FALSE(selects(filter_without_fill_value("9007199254740993", ElementType::f64), 0x1p53));
}

TEST(ValueFilters, FillValuesOfIntegersAreExact) {
  EXPECT_FALSE(selects(filter_without_fill_value("-999", ElementType::i16), std::int16_t{-999}));
  EXPECT_FALSE(selects(filter_without_fill_value("1.8446744073709551615e19", ElementType::u64),
                       ~std::uint64_t{0}));
  for (const auto& [text, type] :
       std::vector<std::pair<std::string, ElementType>>{{"256", ElementType::u8},
                                                        {"-1", ElementType::u64},
                                                        {"0.5", ElementType::i32},
                                                        {"128", ElementType::i8},
                                                        {"inf", ElementType::i8},
                                                        {"nan", ElementType::i8},
                                                        {"1e39", ElementType::f32},
                                                        {"65520", ElementType::f16}}) {
    const Error error =
        usage_error_of([text = text, type = type] { filter_without_fill_value(text, type); });
    EXPECT_EQ(error.problem(), "bad fill value '" + text + "'");
    EXPECT_NE(error.why().find(name_of(type)), std::string::npos);
  }
  for (const char* text : {"", "some", "1x", "=1"})
    usage_error_of([&] { filter_without_fill_value(text, ElementType::f64); });
}

TEST(ValueFilters, NumbersAreHeldAsTheNearestOfAFloatingPointType) {
  EXPECT_EQ(held_value(1e20, ElementType::f32), Value{double{1e20f}});
  EXPECT_EQ(held_value(int128{16777217}, ElementType::f32), Value{16777216.0});
  EXPECT_EQ(held_value(-infinity, ElementType::f32), Value{-infinity});
  EXPECT_EQ(held_value(1e300, ElementType::f32), std::nullopt);
  EXPECT_TRUE(std::isnan(std::get<double>(held_value(quiet_nan, ElementType::f16).value())));
}

TEST(ValueFilters, NumbersAreHeldByIntegersThatEqualThem) {
  EXPECT_EQ(held_value(-5.0, ElementType::i8), Value{int128{-5}});
  EXPECT_EQ(held_value(-0.0, ElementType::u64), Value{int128{0}});
  EXPECT_EQ(held_value(int128{200}, ElementType::u8), Value{int128{200}});
  for (const Value& number : {Value{int128{200}}, Value{0.5}, Value{quiet_nan}, Value{infinity}})
    EXPECT_EQ(held_value(number, ElementType::i8), std::nullopt);
}

TEST(ValueFilters, StoredValuesMayHaveBounds) {
  const auto filter = [](const Value& minimum, const Value& maximum) {
    const std::vector<Value> left_out{2.0, 50.0};
    return filter_of_stored(left_out, minimum, maximum, ElementType::f64);
  };
  for (const auto& [minimum, maximum, kept] :
       std::vector<std::tuple<Value, Value, std::vector<bool>>>{
           {{}, {}, {true, true, false, true, true}},
           {1.0, {}, {false, true, false, true, true}},
           {{}, 1.0, {true, true, false, false, true}},
           {1.0, 50.0, {false, true, false, false, true}},
           {infinity, {}, {false, false, false, true, true}},
           {3.0, 1.0, {false, false, false, false, true}}}) {
    const double elements[] = {-0.5, 1, 2, infinity, quiet_nan};
    for (std::size_t i = 0; i < std::size(elements); ++i)
      EXPECT_EQ(selects(filter(minimum, maximum), elements[i]), kept[i]) << elements[i];
  }
  const std::vector<Value> not_a_number{quiet_nan};
  EXPECT_FALSE(selects(filter_of_stored(not_a_number, {}, {}, ElementType::f64), quiet_nan));
  EXPECT_TRUE(filter_of_stored({}, {}, {}, ElementType::f64).selects_all());
  EXPECT_FALSE(selects(filter_of_stored({}, int128{0}, {}, ElementType::i8), std::int8_t{-1}));
  EXPECT_TRUE(selects(filter_of_stored({}, int128{0}, {}, ElementType::i8), std::int8_t{0}));
}

TEST(ValueFilters, TextsAreNumbersOrNot) {
  for (const char* text : {"1", "-999", "1e20", "0x1p3", "nan", "-inf"})
    EXPECT_TRUE(is_number(text));
  for (const char* text : {"", "none", "1 2", "N/A"}) EXPECT_FALSE(is_number(text));
}

}  // namespace
}  // namespace warpfold
