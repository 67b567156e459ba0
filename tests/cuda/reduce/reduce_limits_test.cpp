#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "cuda/reduce/device_reduce.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr ReduceNeeds some_needs[] = {
    {.sum = true}, {.sum = true, .squares = true, .extrema = true}, everything};

class CudaReduceLimits : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    kernels::set_fp64_use(kernels::Fp64Use::never);
  }
  void TearDown() override { kernels::set_fp64_use(kernels::Fp64Use::by_device); }
};

/// Returns what one block makes of the elements.
template <class T>
Accumulator reduced_by_one_block(const std::vector<T>& elements, ReduceNeeds needs) {
  const Stream stream;
  const DeviceBuffer memory(elements.size() * sizeof(T));
  copy_to_device(memory.data(), elements.data(), memory.size(), stream.get());
  ReduceState state(1);
  kernels::reduce({.elements = memory.data(),
                   .count = elements.size(),
                   .format = {element_type_of<T>(), native_byte_order},
                   .needs = needs,
                   .first_index = 0,
                   .totals = state.totals(),
                   .block_extrema = state.block_extrema(),
                   .blocks = 1},
                  stream.get());
  auto total = downloaded_value<kernels::ReduceTotals>(state.totals(), stream.get()).total;
  total.sum.normalize();
  total.absolute.normalize();
  total.squares.normalize();
  return total;
}

template <class T>
Accumulator sums_of(const std::vector<T>& elements) {
  Accumulator expected = Accumulator::empty();
  for (const T element : elements) {
    const double x = widened(element);
    expected.sum.add(x);
    expected.absolute.add(std::fabs(x));
    expected.squares.add_square(x);
  }
  expected.sum.normalize();
  expected.absolute.normalize();
  expected.squares.normalize();
  return expected;
}

void expect_sums(const Accumulator& actual, const Accumulator& expected, ReduceNeeds needs,
                 const std::string& what) {
  EXPECT_EQ(limbs_of(actual.sum), limbs_of(expected.sum)) << what;
  if (needs.absolute) {
    EXPECT_EQ(limbs_of(actual.absolute), limbs_of(expected.absolute)) << what;
  }
  if (needs.squares) {
    EXPECT_EQ(limbs_of(actual.squares), limbs_of(expected.squares)) << what;
  }
}

TEST_F(CudaReduceLimits, DigitsOfABlockAreMovedBeforeTheyOverflow) {
  // A tile of both magnitudes keeps the bins where they are for 32 tiles that they do not hold.
  constexpr std::size_t tile = 256 * 8;
  const double subnormal = std::bit_cast<double>((std::uint64_t{1} << 52) - 1);
  std::vector<double> elements(tile * (256 + 256 + 12) + 3, subnormal);
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (i / tile % 33 == 0 && i % 4 != 0) elements[i] = 1;
  const Accumulator expected = sums_of(elements);
  for (const ReduceNeeds& needs : some_needs)
    expect_sums(reduced_by_one_block(elements, needs), expected, needs, "digits");
}

void add_sums(Accumulator& to, const Accumulator& from) {
  to.sum.add(from.sum);
  to.absolute.add(from.absolute);
  to.squares.add(from.squares);
  to.normalize();
}

/// Returns the sums of the elements, so many times.
template <class T>
Accumulator sums_of_many(const std::vector<T>& elements, std::size_t times) {
  Accumulator sums = Accumulator::empty();
  for (Accumulator some = sums_of(elements); times != 0; times /= 2) {
    if (times % 2 != 0) add_sums(sums, some);
    add_sums(some, Accumulator(some));
  }
  return sums;
}

/// `pairs` of elements a and b, behind each thread's first tile, of `first`.
template <class T>
void expect_no_overflow(T a, T b, T first, std::size_t pairs) {
  constexpr std::size_t before = std::size_t{16} * kernels::reduce_threads;
  std::vector<T> elements(before + 2 * pairs, a);
  for (std::size_t i = 1; i < 2 * pairs; i += 2) elements[before + i] = b;
  std::fill_n(elements.begin(), before, first);
  Accumulator expected = sums_of_many<T>({a, b}, pairs);
  add_sums(expected, sums_of_many<T>({first}, before));
  for (const ReduceNeeds& needs : some_needs)
    expect_sums(reduced_by_one_block(elements, needs), expected, needs,
                std::to_string(widened(a)) + " and " + std::to_string(widened(b)));
}

template <class T>
void expect_no_overflow_of_greatest_significands() {
  constexpr std::size_t pairs = std::size_t{1} << 26;
  const T one = element_of<T>(1.0);
  const T below = std::bit_cast<T>(static_cast<Word<T>>(std::bit_cast<Word<T>>(one) - 1));
  const T negative = negative_of(below);
  const T far = element_of<T>(widened(below) * (std::is_same_v<T, Float16> ? 0x1p15 : 0x1p39));
  expect_no_overflow(below, below, below, pairs);
  expect_no_overflow(negative, negative, negative, pairs);
  expect_no_overflow(below, far, below, pairs);
}

TEST_F(CudaReduceLimits, BinsOfDoublesHoldWhatComesBetweenTwoFlushes) {
  // As many as a thread adds to its bins before it moves them, and two tiles more.
  constexpr std::size_t pairs = std::size_t{kernels::reduce_threads} * ((1 << 16) + 16) / 2;
  // The lower word counts as a signed one. The first elements place the bins so that those that
  // follow have the last order of one.
  const auto greatest = std::bit_cast<double>(std::uint64_t{0x3fffffff80000000});
  const auto least = std::bit_cast<double>(std::uint64_t{0x3ff0000080000000});
  expect_no_overflow(greatest, -least, 0.5, pairs);
  // Greatest and least exponents side by side, where the bins are at either end.
  const double maximum = std::numeric_limits<double>::max();
  const double smallest = std::numeric_limits<double>::denorm_min();
  expect_no_overflow(maximum, smallest, smallest, pairs);
  if (is_emulated()) return;
  expect_no_overflow(greatest, greatest, 0.5, pairs);
  expect_no_overflow(-greatest, -greatest, -0.5, pairs);
  const double subnormal = std::bit_cast<double>((std::uint64_t{1} << 52) - 1);
  expect_no_overflow(maximum, maximum, maximum / 2, pairs);
  expect_no_overflow(-maximum, -subnormal, -maximum, pairs);
  expect_no_overflow(subnormal, smallest, smallest, pairs);
}

TEST_F(CudaReduceLimits, LongSumsOfThreadsAreMovedBeforeTheyOverflow) {
  expect_no_overflow_of_greatest_significands<double>();
  expect_no_overflow_of_greatest_significands<float>();
  expect_no_overflow_of_greatest_significands<Float16>();
  expect_no_overflow_of_greatest_significands<BFloat16>();
}

}  // namespace
}  // namespace warpfold::cuda
