#include "bench/harness/result.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace warpfold::bench {
namespace {

TEST(Spread, OfOneSampleIsThatSample) {
  const Spread spread = spread_of({3.0});
  EXPECT_EQ(spread.median, 3.0);
  EXPECT_EQ(spread.minimum, 3.0);
  EXPECT_EQ(spread.maximum, 3.0);
}

TEST(Spread, TakesTheMiddleOfAnOddNumber) {
  const Spread spread = spread_of({9.0, 1.0, 4.0});
  EXPECT_EQ(spread.median, 4.0);
  EXPECT_EQ(spread.minimum, 1.0);
  EXPECT_EQ(spread.maximum, 9.0);
}

TEST(Spread, TakesTheMeanOfTheMiddleTwoOfAnEvenNumber) {
  EXPECT_EQ(spread_of({8.0, 1.0, 2.0, 4.0}).median, 3.0);
}

TEST(SetRates, CountsTheBytesOfAllRanks) {
  std::vector<Row> rows(3);
  rows[0].useful_bytes = rows[2].useful_bytes = 8'000'000'000;
  rows[0].seconds = rows[1].seconds = Spread{2.0, 1.0, 4.0};
  set_rates(rows, 3);
  EXPECT_EQ(rows[0].gigabytes_per_second, 12.0);
  EXPECT_FALSE(rows[1].gigabytes_per_second);
  EXPECT_FALSE(rows[2].gigabytes_per_second);
}

TEST(AddedRows, AreCountedWhereTheyAreWrong) {
  Result result;
  result.add({{.check = Check::wrong}, {.check = Check::right}});
  result.add({{.kernel = "fold", .check = Check::wrong}});
  result.add({{.kernel = "CUB gpu_to_gpu", .check = Check::wrong}});
  EXPECT_EQ(result.rows.size(), 4u);
  EXPECT_EQ(result.wrong, 2u);
}

Row row_at(const char* operation, const char* kernel, double rate) {
  Row row;
  row.operation = operation;
  row.kernel = kernel;
  row.gigabytes_per_second = rate;
  return row;
}

TEST(CompareWithPeers, SetsShares) {
  std::vector<Row> rows{row_at("sum", "fold", 300), row_at("statistics", "fold", 150),
                        row_at("sum", "CUB", 200), row_at("copy", "copy", 100)};
  compare_with_peers(rows);
  EXPECT_EQ(rows[0].of_cub, 1.5);
  EXPECT_EQ(rows[0].of_copy, 3.0);
  EXPECT_EQ(rows[1].of_cub, 0.75);
  EXPECT_EQ(rows[3].of_copy, 1.0);
  EXPECT_FALSE(rows[3].of_cub);
}

TEST(CompareWithPeers, ComparesScansOfOneKind) {
  std::vector<Row> rows{row_at("inclusive", "registers", 300),
                        row_at("exclusive", "registers", 300), row_at("inclusive", "CUB", 200),
                        row_at("exclusive", "CUB", 100)};
  compare_with_peers(rows);
  EXPECT_EQ(rows[0].of_cub, 1.5);
  EXPECT_EQ(rows[1].of_cub, 3.0);
  EXPECT_FALSE(rows[0].of_copy);
}

TEST(CompareWithPeers, LeavesOutWhatWasNotRun) {
  std::vector<Row> rows{row_at("sum", "fold", 300), row_at("sum", "CUB", 200)};
  rows[1].gigabytes_per_second.reset();
  compare_with_peers(rows);
  EXPECT_FALSE(rows[0].of_cub);
}

Row row_lasting(double seconds, bool ceiling) {
  Row row;
  row.ceiling = ceiling;
  row.seconds = Spread{seconds, seconds, seconds};
  return row;
}

TEST(CompareWithCeiling, TakesTheSlowestCeiling) {
  std::vector<Row> rows{row_lasting(4.0, false), row_lasting(1.0, true), row_lasting(3.0, true)};
  compare_with_ceiling(rows);
  EXPECT_EQ(rows[0].of_ceiling, 0.75);
  EXPECT_EQ(rows[1].of_ceiling, 3.0);
  EXPECT_EQ(rows[2].of_ceiling, 1.0);
}

TEST(CompareWithCeiling, SaysNothingWithoutOne) {
  std::vector<Row> rows{row_lasting(4.0, false)};
  compare_with_ceiling(rows);
  EXPECT_FALSE(rows[0].of_ceiling);
}

Accumulator reduce_of(double sum) {
  Accumulator reduce = Accumulator::empty();
  reduce.sum.add(sum);
  reduce.normalize();
  return reduce;
}

Row judged_float(float claimed, double exact) {
  Row row;
  judge_sum(row, std::bit_cast<std::uint32_t>(claimed), ElementType::f32, ElementType::f32,
            reduce_of(exact));
  return row;
}

Row judged_integer(std::uint64_t bits, ElementType output, double exact) {
  Row row;
  judge_sum(row, bits, ElementType::u8, output, reduce_of(exact));
  return row;
}

TEST(JudgeSum, MeasuresFloatsInUnitsInTheLastPlace) {
  EXPECT_EQ(judged_float(1.0f, 1.0).error_ulps, 0.0);
  EXPECT_EQ(judged_float(std::nextafter(1.0f, 2.0f), 1.0).error_ulps, 1.0);
  EXPECT_EQ(judged_float(-3.0f, 5.0).error_ulps, std::ldexp(8.0, 21));
  EXPECT_EQ(judged_float(1.0f, 1.0).check, Check::none);
}

TEST(JudgeSum, MeasuresAgainstTheExactSumRatherThanTheRoundedOne) {
  Accumulator exact = reduce_of(1.0);
  exact.sum.add(std::ldexp(1.0, -54));
  Row row;
  judge_sum(row, std::bit_cast<std::uint64_t>(1.0), ElementType::f64, ElementType::f64, exact);
  EXPECT_EQ(row.error_ulps, 0.25);
}

TEST(JudgeSum, CallsWhatIsNotFiniteInfinitelyWrong) {
  EXPECT_EQ(judged_float(std::numeric_limits<float>::infinity(), 1.0).error_ulps,
            std::numeric_limits<double>::infinity());
}

TEST(JudgeSum, TakesIntegersModuloTheirWidth) {
  const double exact = 4294967296.0 + 7.0;
  EXPECT_EQ(judged_integer(7, ElementType::u32, exact).check, Check::right);
  EXPECT_EQ(judged_integer(7, ElementType::u64, exact).check, Check::wrong);
  EXPECT_EQ(judged_integer(8, ElementType::u32, exact).check, Check::wrong);
  // Memory next to a narrow result is ignored.
  EXPECT_EQ(judged_integer(0xabcd00000007, ElementType::u32, exact).check, Check::right);
}

}  // namespace
}  // namespace warpfold::bench
