#include "core/results/summarize.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/results/reducing.hpp"
#include "core/results/usage.hpp"

namespace warpfold {
namespace {

using testing::element_of;
using testing::reduced;

constexpr SummaryOptions skipping{NanPolicy::skip};
const Value nothing;

const std::vector<Statistic> every_statistic(std::begin(all_statistics), std::end(all_statistics));

Value integer(std::string_view decimal) {
  const bool negative = decimal.front() == '-';
  if (negative) decimal.remove_prefix(1);
  int128 magnitude = 0;
  for (const char digit : decimal) magnitude = magnitude * 10 + (digit - '0');
  return negative ? -magnitude : magnitude;
}

std::string text(const Value& value) {
  if (const auto* whole = std::get_if<int128>(&value)) return to_string(*whole);
  if (const auto* number = std::get_if<double>(&value)) {
    char digits[64];
    std::snprintf(digits, sizeof digits, "%a", std::isnan(*number) ? std::fabs(*number) : *number);
    return digits;
  }
  return "nothing";
}

/// The text of a double tells -0.0 from 0.0 and the kinds of results apart.
void expect_value(const Value& value, const Value& expected, const std::string& what) {
  EXPECT_EQ(text(value), text(expected)) << what;
}

struct SummaryCase {
  std::string kind;
  ElementType type;
  std::vector<std::uint64_t> elements;                        ///< value_bits()
  std::array<Value, std::size(all_statistics)> by_statistic;  ///< with ddof 0
  double sample_var;                                          ///< with ddof 1
  double sample_std;
};

const SummaryCase summary_cases[] = {
#include "core/results/summary_cases.inc"
};

Accumulator reduced(const SummaryCase& data) {
  return visit_element_type(data.type, [&](auto zero) {
    std::vector<decltype(zero)> elements;
    for (const std::uint64_t bits : data.elements)
      elements.push_back(element_of<decltype(zero)>(bits));
    return reduced(elements);
  });
}

TEST(Summary, AgreesWithFractions) {
  for (const SummaryCase& data : summary_cases) {
    const std::string name = std::string(name_of(data.type)) + ' ' + data.kind + ' ';
    const Summary summary = summarize(reduced(data), data.type, every_statistic, {});
    ASSERT_EQ(summary.size(), every_statistic.size());
    for (std::size_t i = 0; i < summary.size(); ++i) {
      EXPECT_EQ(summary[i].first, every_statistic[i]);
      expect_value(summary[i].second, data.by_statistic[i],
                   name + std::string(name_of(every_statistic[i])));
    }
    const Summary sample =
        summarize(reduced(data), data.type, {Statistic::var, Statistic::std}, {.ddof = 1});
    expect_value(sample[0].second, data.sample_var, name + "sample var");
    expect_value(sample[1].second, data.sample_std, name + "sample std");
  }
}

Value one(const Accumulator& accumulator, ElementType type, Statistic statistic,
          const SummaryOptions& options = {}) {
  return summarize(accumulator, type, {statistic}, options).at(0).second;
}

Value one(const std::vector<double>& elements, Statistic statistic,
          const SummaryOptions& options = {}) {
  return one(reduced(elements), ElementType::f64, statistic, options);
}

using Expected = std::array<Value, std::size(all_statistics)>;

void expect_all(const std::vector<double>& elements, const SummaryOptions& options,
                const Expected& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    expect_value(one(elements, every_statistic[i], options), expected[i],
                 std::string(name_of(every_statistic[i])));
}

const Value none = int128{0};

TEST(Summary, KeepsTheOrderAskedFor) {
  const std::vector<double> elements = {2.0, 3.0};
  const Summary summary = summarize(reduced(elements), ElementType::f64,
                                    {Statistic::max, Statistic::count, Statistic::sum}, {});
  ASSERT_EQ(summary.size(), 3u);
  EXPECT_EQ(summary[0], (std::pair{Statistic::max, Value(3.0)}));
  EXPECT_EQ(summary[1], (std::pair{Statistic::count, Value(int128{2})}));
  EXPECT_EQ(summary[2], (std::pair{Statistic::sum, Value(5.0)}));
  EXPECT_TRUE(summarize(reduced(elements), ElementType::f64, {}, {}).empty());
}

TEST(Summary, IsSearchedByStatistic) {
  const Summary summary = summarize(reduced(std::vector<double>{2.0, 3.0}), ElementType::f64,
                                    {Statistic::max, Statistic::count}, {});
  EXPECT_EQ(value_of(summary, Statistic::max), Value(3.0));
  EXPECT_EQ(value_of(summary, Statistic::count), Value(int128{2}));
  EXPECT_EQ(testing::usage_error_of([&] { value_of(summary, Statistic::sum); }).problem(),
            "the sum is not in the summary");
}

TEST(Summary, OfNoFloats) {
  for (const SummaryOptions& options : {SummaryOptions{}, skipping})
    expect_all({}, options,
               {none, 0.0, quiet_nan, quiet_nan, quiet_nan, nothing, nothing, nothing, nothing, 0.0,
                0.0, 0.0, none, none});
}

TEST(Summary, OfNoIntegers) {
  const Expected expected = {none,    none,    quiet_nan, quiet_nan, quiet_nan, nothing, nothing,
                             nothing, nothing, none,      0.0,       none,      none,    none};
  for (const auto type : {ElementType::i8, ElementType::u8, ElementType::i64, ElementType::u64})
    for (std::size_t i = 0; i < expected.size(); ++i)
      expect_value(one(Accumulator::empty(), type, every_statistic[i]), expected[i],
                   std::string(name_of(every_statistic[i])));
}

TEST(Summary, NanPropagates) {
  expect_all({1.0, quiet_nan, -2.0, quiet_nan}, {},
             {integer("4"), quiet_nan, quiet_nan, quiet_nan, quiet_nan, quiet_nan, quiet_nan,
              integer("1"), integer("1"), quiet_nan, quiet_nan, quiet_nan, integer("2"), none});
}

TEST(Summary, NanPropagatesOverInfinities) {
  expect_all(
      {infinity, quiet_nan}, {},
      {integer("2"), quiet_nan, quiet_nan, quiet_nan, quiet_nan, quiet_nan, quiet_nan, integer("1"),
       integer("1"), quiet_nan, quiet_nan, quiet_nan, integer("1"), integer("1")});
}

TEST(Summary, NanIsSkipped) {
  expect_all({quiet_nan, 3.0, quiet_nan, -4.0}, skipping,
             {integer("2"), -1.0, -0.5, 12.25, 3.5, -4.0, 3.0, integer("3"), integer("1"), 7.0, 5.0,
              4.0, integer("2"), none});
}

TEST(Summary, OfNothingButSkippedNan) {
  expect_all({quiet_nan, quiet_nan}, skipping,
             {none, 0.0, quiet_nan, quiet_nan, quiet_nan, quiet_nan, quiet_nan, nothing, nothing,
              0.0, 0.0, 0.0, integer("2"), none});
}

TEST(Summary, SkippedNanCountsForDdof) {
  const std::vector<double> elements = {quiet_nan, 1.0, 3.0};
  expect_value(one(elements, Statistic::var, {.nan = NanPolicy::skip, .ddof = 1}), 2.0, "two");
  expect_value(one(elements, Statistic::var, {.nan = NanPolicy::skip, .ddof = 2}), quiet_nan,
               "none");
}

TEST(Summary, PositiveInfinity) {
  expect_all({1.0, infinity, infinity}, {},
             {integer("3"), infinity, infinity, quiet_nan, quiet_nan, 1.0, infinity, none,
              integer("1"), infinity, infinity, infinity, none, integer("2")});
}

TEST(Summary, NegativeInfinity) {
  expect_all({1.0, -infinity}, skipping,
             {integer("2"), -infinity, -infinity, quiet_nan, quiet_nan, -infinity, 1.0,
              integer("1"), none, infinity, infinity, infinity, none, integer("1")});
}

TEST(Summary, InfinitiesOfBothSigns) {
  expect_all({-infinity, 2.0, infinity}, {},
             {integer("3"), quiet_nan, quiet_nan, quiet_nan, quiet_nan, -infinity, infinity, none,
              integer("2"), infinity, infinity, infinity, none, integer("2")});
}

TEST(Summary, InfinityBesideSkippedNan) {
  expect_all(
      {quiet_nan, infinity}, skipping,
      {integer("1"), infinity, infinity, quiet_nan, quiet_nan, infinity, infinity, integer("1"),
       integer("1"), infinity, infinity, infinity, integer("1"), integer("1")});
}

TEST(Summary, ZerosOfBothSigns) {
  expect_all({0.0, -0.0}, {},
             {integer("2"), 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, none, none, 0.0, 0.0, 0.0, none, none});
  expect_all({-0.0, 0.0}, {},
             {integer("2"), 0.0, 0.0, 0.0, 0.0, -0.0, -0.0, none, none, 0.0, 0.0, 0.0, none, none});
}

TEST(Summary, VarianceNeedsMoreElementsThanDdof) {
  const std::vector<double> elements = {1.0, 2.0, 6.0};
  expect_value(one(elements, Statistic::var, {.ddof = 2}), 14.0, "var");
  for (const std::uint64_t ddof : {std::uint64_t{3}, std::uint64_t{4}, ~std::uint64_t{0}}) {
    expect_value(one(elements, Statistic::var, {.ddof = ddof}), quiet_nan, "var");
    expect_value(one(elements, Statistic::std, {.ddof = ddof}), quiet_nan, "std");
  }
}

TEST(Summary, TakesContentsThatAreNotNormalized) {
  Accumulator accumulator = Accumulator::empty();
  for (std::uint64_t i = 0; i < 5; ++i) testing::reduce(accumulator, -1e10 * double(i), i);
  expect_value(one(accumulator, ElementType::f64, Statistic::mean), -2e10, "mean");
  expect_value(one(accumulator, ElementType::f64, Statistic::var), 2e20, "var");
}

TEST(Summary, IntegerSumsExceedTheirType) {
  const std::vector<std::int64_t> minimum(4, std::numeric_limits<std::int64_t>::min());
  const Accumulator contents = reduced(minimum);
  expect_value(one(contents, ElementType::i64, Statistic::sum), integer("-36893488147419103232"),
               "sum");
  expect_value(one(contents, ElementType::i64, Statistic::l1), integer("36893488147419103232"),
               "l1");
  expect_value(one(contents, ElementType::i64, Statistic::linf), integer("9223372036854775808"),
               "linf");
}

TEST(Summary, IntegerSumsWrapInTheirType) {
  const SummaryOptions wrapping{.overflow = OverflowPolicy::wrap};
  const auto wrapped = [&](const auto& elements, ElementType type) {
    return one(reduced(elements), type, Statistic::sum, wrapping);
  };
  expect_value(wrapped(std::vector<std::int8_t>{127, 1}, ElementType::i8), integer("-128"), "i8");
  expect_value(wrapped(std::vector<std::int8_t>{-128, -1}, ElementType::i8), integer("127"), "i8");
  expect_value(wrapped(std::vector<std::int8_t>{100, 27}, ElementType::i8), integer("127"), "i8");
  expect_value(wrapped(std::vector<std::uint8_t>{255, 3}, ElementType::u8), integer("2"), "u8");
  expect_value(wrapped(std::vector<std::int16_t>{32767, 2}, ElementType::i16), integer("-32767"),
               "i16");
  expect_value(wrapped(std::vector<std::uint16_t>{65535, 65535}, ElementType::u16),
               integer("65534"), "u16");
  expect_value(wrapped(std::vector<std::int32_t>{2147483647, 1}, ElementType::i32),
               integer("-2147483648"), "i32");
  expect_value(wrapped(std::vector<std::uint32_t>{4294967295u, 1}, ElementType::u32), integer("0"),
               "u32");
  constexpr auto maximum = std::numeric_limits<std::int64_t>::max();
  expect_value(wrapped(std::vector<std::int64_t>{maximum, maximum, maximum}, ElementType::i64),
               integer("9223372036854775805"), "i64");
  expect_value(wrapped(std::vector<std::uint64_t>(2, ~std::uint64_t{0}), ElementType::u64),
               integer("18446744073709551614"), "u64");
}

TEST(Summary, FloatsDoNotWrap) {
  const SummaryOptions wrapping{.overflow = OverflowPolicy::wrap};
  expect_value(one({1e300, 0.5}, Statistic::sum, wrapping), 1e300, "sum");
}

TEST(Summary, UnsignedAbsoluteSumsAreSums) {
  Accumulator contents = reduced(std::vector<std::uint32_t>{7, 8});
  contents.absolute = {};
  expect_value(one(contents, ElementType::u32, Statistic::l1), integer("15"), "l1");
}

void expect_needs(const std::vector<Statistic>& statistics, ElementType type,
                  ReduceNeeds expected) {
  const ReduceNeeds needs = needs_of(statistics, type);
  EXPECT_EQ(needs.sum, expected.sum) << name_of(type);
  EXPECT_EQ(needs.absolute, expected.absolute) << name_of(type);
  EXPECT_EQ(needs.squares, expected.squares) << name_of(type);
  EXPECT_EQ(needs.extrema, expected.extrema) << name_of(type);
}

TEST(ReduceNeeds, OfEachStatisticAreMinimal) {
  for (const ElementType type : all_element_types) {
    for (const auto counted : {Statistic::count, Statistic::nan_count, Statistic::inf_count})
      expect_needs({counted}, type, {});
    for (const auto summed : {Statistic::sum, Statistic::mean})
      expect_needs({summed}, type, {.sum = true});
    for (const auto spread : {Statistic::var, Statistic::std})
      expect_needs({spread}, type, {.sum = true, .squares = true});
    for (const auto extreme :
         {Statistic::min, Statistic::max, Statistic::argmin, Statistic::argmax, Statistic::linf})
      expect_needs({extreme}, type, {.extrema = true});
    expect_needs({Statistic::l2}, type, {.squares = true});
  }
}

TEST(ReduceNeeds, OfAbsoluteSumsAreSumsWhereNothingIsNegative) {
  for (const auto type : {ElementType::u8, ElementType::u16, ElementType::u32, ElementType::u64})
    expect_needs({Statistic::l1}, type, {.sum = true});
  for (const auto type : {ElementType::i8, ElementType::i16, ElementType::i32, ElementType::i64,
                          ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64})
    expect_needs({Statistic::l1}, type, {.absolute = true});
}

TEST(ReduceNeeds, OfSeveralStatisticsAreTogether) {
  expect_needs({}, ElementType::f64, {});
  expect_needs({Statistic::sum, Statistic::min}, ElementType::i8, {.sum = true, .extrema = true});
  expect_needs(every_statistic, ElementType::f32,
               {.sum = true, .absolute = true, .squares = true, .extrema = true});
  expect_needs(every_statistic, ElementType::u32, {.sum = true, .squares = true, .extrema = true});
}

}  // namespace
}  // namespace warpfold
