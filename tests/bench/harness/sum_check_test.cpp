#include "bench/harness/sum_check.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

namespace warpfold::bench {
namespace {

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
  // What lies beside a narrow result in memory is of no account.
  EXPECT_EQ(judged_integer(0xabcd00000007, ElementType::u32, exact).check, Check::right);
}

}  // namespace
}  // namespace warpfold::bench
