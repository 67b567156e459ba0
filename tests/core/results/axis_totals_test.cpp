#include "core/results/axis_totals.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/results/axis_reducing.hpp"
#include "core/results/reducing.hpp"
#include "core/results/summarize.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

using testing::element_of;
using testing::everything;
using testing::reduce;
using testing::reduced;
constexpr SummaryOptions skipping_nan{NanPolicy::skip};

constexpr Statistic rounded_statistics[] = {Statistic::sum, Statistic::mean, Statistic::var,
                                            Statistic::std, Statistic::l1,   Statistic::l2};
constexpr ElementType rounded_types[] = {ElementType::f64, ElementType::f32, ElementType::f16,
                                         ElementType::bf16};

struct AxisCase {
  std::string kind;
  std::vector<std::uint64_t> elements;
  std::array<double, std::size(rounded_statistics) * std::size(rounded_types)> results;
};

const AxisCase axis_cases[] = {
#include "core/results/axis_cases.inc"
};

/// Reduces columns by some lanes in turn, as rows of the columns.
template <class T>
AxisTotals totals_of(const std::vector<std::vector<T>>& columns, std::uint64_t lanes) {
  AxisTotals totals(element_type_of<T>(), everything, columns.size());
  for (std::uint64_t lane = 0; lane < lanes; ++lane) {
    AxisParts parts(everything, columns.size());
    for (std::uint64_t output = 0; output < columns.size(); ++output)
      for (std::uint64_t row = lane; row < columns[output].size(); row += lanes)
        reduce(parts, output, columns[output][row], row);
    totals.merge(parts);
  }
  return totals;
}

template <class Out>
std::vector<Out> stored(const AxisTotals& totals, Statistic statistic,
                        const SummaryOptions& options = {}) {
  std::vector<Out> results(totals.outputs());
  totals.store(statistic, options, {0, results.size()}, 0, element_type_of<Out>(),
               reinterpret_cast<std::byte*>(results.data()));
  return results;
}

std::vector<std::vector<double>> columns_of_cases() {
  std::vector<std::vector<double>> columns;
  for (const AxisCase& data : axis_cases) {
    columns.emplace_back();
    for (const std::uint64_t bits : data.elements)
      columns.back().push_back(element_of<double>(bits));
  }
  return columns;
}

TEST(AxisTotals, RoundOnceToEveryType) {
  const AxisTotals totals = totals_of(columns_of_cases(), 2);
  for (std::size_t s = 0; s < std::size(rounded_statistics); ++s) {
    for (std::size_t t = 0; t < std::size(rounded_types); ++t) {
      visit_element_type(rounded_types[t], [&](auto zero) {
        using Out = decltype(zero);
        if constexpr (is_floating_element<Out>) {
          const std::vector<Out> results = stored<Out>(totals, rounded_statistics[s]);
          for (std::size_t i = 0; i < results.size(); ++i)
            EXPECT_EQ(widened(results[i]), axis_cases[i].results[s * std::size(rounded_types) + t])
                << axis_cases[i].kind << ' ' << i << ' ' << name_of(rounded_statistics[s]) << ' '
                << name_of(rounded_types[t]);
        }
      });
    }
  }
}

/// Tells -0.0 from 0.0 and takes all NaN for one.
template <class Out>
std::string text(Out element) {
  if constexpr (std::is_integral_v<Out>) {
    return to_string(int128{element});
  } else {
    const double number = widened(element);
    char digits[64];
    std::snprintf(digits, sizeof digits, "%a", std::isnan(number) ? std::fabs(number) : number);
    return digits;
  }
}

/// Returns the text that a store should give for a summary's value.
template <class Out>
std::string expected_text(const Value& value) {
  const auto* whole = std::get_if<int128>(&value);
  const auto* number = std::get_if<double>(&value);
  if constexpr (std::is_integral_v<Out>) {
    return to_string(whole ? *whole : int128{-1});
  } else {
    if (whole) return text(output_element<Out>(*whole));
    return text(output_element<Out>(number ? *number : quiet_nan));
  }
}

template <class T>
std::vector<std::vector<T>> random_columns(std::mt19937_64& random) {
  std::vector<std::vector<T>> columns(40);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    for (std::size_t n = random() % 12 + 1; n > 0; --n) {
      if constexpr (!is_floating_element<T>) {
        columns[i].push_back(static_cast<T>(random() >> (random() % 64)));
      } else {
        const double specials[] = {quiet_nan, infinity, -infinity, 0.0, -0.0};
        const double number = std::ldexp(static_cast<double>(random() % 1000) - 500.0,
                                         static_cast<int>(random() % 20) - 10);
        const double value =
            i % 2 == 0 || random() % 4 != 0 ? number : specials[random() % std::size(specials)];
        columns[i].push_back(element_of<T>(std::bit_cast<std::uint64_t>(value)));
      }
    }
  }
  return columns;
}

template <class T>
void expect_summaries(const std::vector<std::vector<T>>& columns, const AxisTotals& totals,
                      const SummaryOptions& options) {
  for (const Statistic statistic : all_statistics) {
    const bool sums = statistic == Statistic::sum || statistic == Statistic::l1;
    const auto asked = sums ? std::optional(ElementType::f64) : std::nullopt;
    const ElementType type = axis_output_type(statistic, element_type_of<T>(), asked);
    const Rounding rounding = type == ElementType::f64 ? Rounding::nearest : Rounding::odd;
    visit_element_type(type, [&](auto zero) {
      using Out = decltype(zero);
      const std::vector<Out> results = stored<Out>(totals, statistic, options);
      for (std::size_t i = 0; i < results.size(); ++i) {
        const Summary summary =
            summarize(reduced(columns[i]), element_type_of<T>(), {statistic}, options, rounding);
        EXPECT_EQ(text(results[i]), expected_text<Out>(summary.front().second))
            << name_of(statistic) << " of column " << i << " as " << name_of(type);
      }
    });
  }
}

TEST(AxisTotals, AgreeWithSummaries) {
  std::mt19937_64 random(1);
  for (const ElementType type : all_element_types) {
    SCOPED_TRACE(name_of(type));
    visit_element_type(type, [&](auto zero) {
      const auto columns = random_columns<decltype(zero)>(random);
      const AxisTotals totals = totals_of(columns, 3);
      expect_summaries(columns, totals, {});
      expect_summaries(columns, totals, skipping_nan);
      expect_summaries(columns, totals, {.ddof = 2});
    });
  }
}

TEST(AxisTotals, PackedMergeAsTheyAre) {
  const auto columns = columns_of_cases();
  const AxisTotals totals = totals_of(columns, 1);
  AxisTotals merged(ElementType::f64, everything, columns.size());
  for (std::uint64_t lane = 0; lane < 3; ++lane) {
    AxisTotals part(ElementType::f64, everything, columns.size());
    AxisParts parts(everything, columns.size());
    for (std::uint64_t output = 0; output < columns.size(); ++output)
      for (std::uint64_t row = lane; row < columns[output].size(); row += 3)
        reduce(parts, output, columns[output][row], row);
    part.merge(parts);
    merged.merge(part.packed());
  }
  for (std::uint64_t output = 0; output < columns.size(); ++output) {
    const Accumulator expected = totals.accumulator(output);
    const Accumulator actual = merged.accumulator(output);
    EXPECT_EQ(std::memcmp(&actual, &expected, sizeof actual), 0) << output;
    const Accumulator direct = reduced(columns[output]);
    EXPECT_EQ(std::memcmp(&actual, &direct, sizeof actual), 0) << output;
  }
}

TEST(AxisTotals, TakeWholeSumsAsSpills) {
  Accumulator all = Accumulator::empty();
  AxisParts parts(everything, 2);
  for (const double value : {1e308, -3e-320, 1.5e308, 7.25}) {
    Accumulator one = Accumulator::empty();
    reduce(one, value, 0);
    one.normalize();
    all.merge(one);
    all.normalize();
    parts.spills.add(1, AxisTerm::value, one.sum);
    parts.spills.add(1, AxisTerm::magnitude, one.absolute);
    parts.spills.add(1, AxisTerm::square, one.squares);
  }
  AxisTotals totals(ElementType::f64, everything, 2);
  totals.merge(parts);
  const Accumulator found = totals.accumulator(1);
  EXPECT_TRUE(std::ranges::equal(found.sum.limb, all.sum.limb));
  EXPECT_TRUE(std::ranges::equal(found.absolute.limb, all.absolute.limb));
  EXPECT_TRUE(std::ranges::equal(found.squares.limb, all.squares.limb));
  EXPECT_EQ(totals.accumulator(0).sum.rounded(), 0.0);
}

TEST(AxisTotals, OfNoElements) {
  const AxisTotals floats(ElementType::f32, everything, 1);
  EXPECT_EQ(text(stored<float>(floats, Statistic::sum)[0]), text(0.0));
  EXPECT_EQ(text(stored<float>(floats, Statistic::mean)[0]), text(quiet_nan));
  EXPECT_EQ(text(stored<float>(floats, Statistic::min)[0]), text(quiet_nan));
  EXPECT_EQ(stored<std::int64_t>(floats, Statistic::argmax)[0], -1);
  const AxisTotals integers(ElementType::i16, everything, 1);
  EXPECT_EQ(stored<std::int64_t>(integers, Statistic::sum)[0], 0);
  EXPECT_THROW(stored<std::int16_t>(integers, Statistic::max), Error);
}

TEST(AxisTotals, NameTheOutputThatDoesNotFit) {
  constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  const AxisTotals totals = totals_of<std::int64_t>({{1, 2}, {maximum, 1}, {maximum, maximum}}, 1);
  std::int64_t results[3] = {};
  try {
    totals.store(Statistic::sum, {}, {0, 3}, 1000, ElementType::i64,
                 reinterpret_cast<std::byte*>(results));
    ADD_FAILURE() << "no error was thrown";
  } catch (const Error& error) {
    EXPECT_NE(error.problem().find("output 1001"), std::string::npos) << error.what();
  }
  EXPECT_EQ(stored<std::int64_t>(totals, Statistic::sum, {.overflow = OverflowPolicy::wrap}),
            (std::vector<std::int64_t>{3, -maximum - 1, -2}));
  EXPECT_EQ(stored<double>(totals, Statistic::sum), (std::vector{3.0, 0x1p63, 0x1p64}));
}

TEST(AxisTotals, WrapSumsInTheTypeOfTheOutput) {
  const SummaryOptions wrapping{.overflow = OverflowPolicy::wrap};
  const AxisTotals narrow = totals_of<std::int8_t>({{100, 100, 100}, {-128, -1, -1}}, 1);
  EXPECT_EQ(stored<std::int64_t>(narrow, Statistic::sum, wrapping),
            (std::vector<std::int64_t>{300, -130}));
  EXPECT_EQ(stored<std::int8_t>(narrow, Statistic::sum, wrapping),
            (std::vector<std::int8_t>{44, 126}));
  EXPECT_EQ(stored<float>(narrow, Statistic::sum, wrapping), (std::vector{300.0f, -130.0f}));
  constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  const AxisTotals wide =
      totals_of<std::int64_t>({{maximum, maximum, maximum}, {-maximum, -maximum, 5}}, 1);
  EXPECT_EQ(stored<std::uint16_t>(wide, Statistic::sum, wrapping),
            (std::vector<std::uint16_t>{65533, 7}));
  EXPECT_EQ(stored<std::int64_t>(wide, Statistic::sum, wrapping),
            (std::vector<std::int64_t>{maximum - 2, 7}));
}

TEST(AxisTotals, HaveTypesAsNumPyHas) {
  EXPECT_EQ(axis_output_type(Statistic::sum, ElementType::i8, {}), ElementType::i64);
  EXPECT_EQ(axis_output_type(Statistic::sum, ElementType::u32, {}), ElementType::u64);
  EXPECT_EQ(axis_output_type(Statistic::sum, ElementType::u32, ElementType::f32), ElementType::f32);
  EXPECT_EQ(axis_output_type(Statistic::sum, ElementType::f16, {}), ElementType::f16);
  EXPECT_EQ(axis_output_type(Statistic::mean, ElementType::i8, {}), ElementType::f64);
  EXPECT_EQ(axis_output_type(Statistic::var, ElementType::f32, ElementType::f64), ElementType::f64);
  EXPECT_EQ(axis_output_type(Statistic::max, ElementType::i8, ElementType::f64), ElementType::i8);
  EXPECT_EQ(axis_output_type(Statistic::argmin, ElementType::f32, {}), ElementType::i64);
  EXPECT_EQ(axis_output_type(Statistic::linf, ElementType::i8, {}), ElementType::u64);
  EXPECT_THROW(axis_output_type(Statistic::sum, ElementType::f32, ElementType::i64), Error);
}

}  // namespace
}  // namespace warpfold
