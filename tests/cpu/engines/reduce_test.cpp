#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "core/engine/backend.hpp"
#include "core/results/reducing.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"
#include "cpu/engines/scalar_reduce.hpp"
#include "cpu/kernels/kernel_cases.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;
using warpfold::testing::everything;

/// Reduces the elements in slabs, the last slab first.
template <class T>
Accumulator reduce_elements(Backend& backend, const std::vector<T>& elements, ElementFormat format,
                            ReduceNeeds needs, std::size_t slab, std::uint64_t first_index) {
  const auto engine = backend.make_reduce_engine({format, {}, slab, 0, Staging::run, 3}, needs);
  std::size_t end = elements.size();
  for (int thread = 0; end > 0; thread = (thread + 1) % engine->threads()) {
    const std::size_t first = (end - 1) / slab * slab;
    const std::vector<T> part(elements.begin() + static_cast<std::ptrdiff_t>(first),
                              elements.begin() + static_cast<std::ptrdiff_t>(end));
    const Ticket ticket = engine->take(thread);
    put_elements(part, format.order, ticket.memory.data());
    engine->submit(ticket, staged_run({}, {0, part.size()}, first_index + first));
    end = first;
  }
  return engine->finish();
}

class EveryReduce : public EveryTypeByKernels {};

TEST_P(EveryReduce, EqualsScalarReduce) {
  const auto [type, kernels] = GetParam();
  const auto backend = make_backend(2, *kernels);
  visit_element_type(type, [&, type = type](auto element) {
    for (const Kind kind : all_kinds) {
      for (const std::size_t size : all_sizes) {
        const auto elements = make_elements<decltype(element)>(kind, size, size);
        const Accumulator expected = scalar_reduce(elements, 1000);
        for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
          const std::size_t slab = std::max<std::size_t>(size, 1);
          const auto actual =
              reduce_elements(*backend, elements, {type, order}, everything, slab, 1000);
          EXPECT_TRUE(same(actual, expected))
              << "kind " << static_cast<int>(kind) << ", " << size << " elements";
        }
      }
    }
  });
}

TEST_P(EveryReduce, DoesNotDependOnSlabs) {
  const auto [type, kernels] = GetParam();
  const auto backend = make_backend(3, *kernels);
  visit_element_type(type, [&, type = type](auto element) {
    const auto elements = make_elements<decltype(element)>(Kind::sprinkled, 100003);
    const Accumulator expected = scalar_reduce(elements, 0);
    for (const std::size_t slab : {1000u, 4096u, 65537u})
      EXPECT_TRUE(same(reduce_elements(*backend, elements, {type}, everything, slab, 0), expected));
  });
}

TEST_P(EveryReduce, FillsWhatIsNeeded) {
  const auto [type, kernels] = GetParam();
  const auto backend = make_backend(1, *kernels);
  visit_element_type(type, [&, type = type](auto element) {
    const auto elements = make_elements<decltype(element)>(Kind::sprinkled, 9000);
    const Accumulator all = scalar_reduce(elements, 0);
    for (unsigned mask = 0; mask < 16; ++mask) {
      const ReduceNeeds needs{(mask & 1) != 0, (mask & 2) != 0, (mask & 4) != 0, (mask & 8) != 0};
      const auto actual = reduce_elements(*backend, elements, {type}, needs, 9000, 0);
      Accumulator expected = all;
      if (!needs.sum) expected.sum = {};
      if (!needs.absolute) expected.absolute = {};
      if (!needs.squares) expected.squares = {};
      if (!needs.extrema) expected.minimum = expected.maximum = Extremum::none();
      EXPECT_TRUE(same(actual, expected)) << "needs " << mask;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryReduce, every_type_by_kernels(), type_and_kernels);

class EveryInstructionSet : public ::testing::TestWithParam<const Kernels*> {};

TEST_P(EveryInstructionSet, SumsMultiplesOfAPowerOfTwoAsIntegersDo) {
  const auto backend = make_backend(2, *GetParam());
  std::mt19937_64 random(7);
  std::vector<double> elements(200000);
  std::int64_t sum = 0;
  std::int64_t absolute = 0;
  for (double& element : elements) {
    const auto units = static_cast<std::int64_t>(random() >> 20) - (std::int64_t{1} << 43);
    element = static_cast<double>(units) * 0x1p-20;
    sum += units;
    absolute += units < 0 ? -units : units;
  }
  const Accumulator total =
      reduce_elements(*backend, elements, {ElementType::f64}, everything, 200000, 0);
  const DoublePair pair = total.sum.rounded_pair();
  EXPECT_EQ(total.sum.rounded(), std::ldexp(static_cast<double>(sum), -20));
  EXPECT_EQ(pair.high + pair.low, std::ldexp(static_cast<double>(sum), -20));
  EXPECT_EQ(total.absolute.rounded(), std::ldexp(static_cast<double>(absolute), -20));
}

TEST_P(EveryInstructionSet, SumsIntegersAsWideIntegersDo) {
  const auto backend = make_backend(2, *GetParam());
  const auto elements = make_elements<std::int64_t>(Kind::all_bits, 100000);
  int128 sum = 0;
  for (const std::int64_t element : elements) sum += element;
  Accumulator expected = Accumulator::empty();
  expected.sum.add(sum);
  expected.normalize();
  const Accumulator total = reduce_elements(*backend, elements, {ElementType::i64},
                                            {true, false, false, false}, 100000, 0);
  EXPECT_EQ(std::memcmp(&total.sum, &expected.sum, sizeof total.sum), 0);
}

TEST_P(EveryInstructionSet, FollowsDataThatChangesItsScale) {
  const auto backend = make_backend(1, *GetParam());
  std::vector<double> elements;
  for (const int exponent : {0, 40, -300, 900, 0, -1060, 1010, 3, -200})
    for (const double x : make_elements<double>(Kind::wide, 3 * 4096 + 17))
      elements.push_back(std::ldexp(x, exponent - (exponent > 900 ? 40 : 0)));
  EXPECT_TRUE(
      same(reduce_elements(*backend, elements, {ElementType::f64}, everything, elements.size(), 0),
           scalar_reduce(elements, 0)));
}

TEST_P(EveryInstructionSet, ComesBackToFewLevelsAfterWideBlocks) {
  const auto backend = make_backend(1, *GetParam());
  std::vector<float> elements = make_elements<float>(Kind::all_bits, 5 * 4096);
  for (std::size_t block = 0; block < 600; ++block)
    for (const float x : make_elements<float>(Kind::uniform, 4096, block)) elements.push_back(x);
  EXPECT_TRUE(
      same(reduce_elements(*backend, elements, {ElementType::f32}, everything, elements.size(), 0),
           scalar_reduce(elements, 0)));
}

TEST_P(EveryInstructionSet, GivesTiesToTheLowestIndex) {
  const auto backend = make_backend(3, *GetParam());
  std::vector<float> elements(3000000, 2.0f);
  elements[1234567] = -0.0f;
  elements[1234568] = 0.0f;
  elements[2999999] = -0.0f;
  elements[777] = 5.0f;
  elements[778] = 5.0f;
  const Accumulator total =
      reduce_elements(*backend, elements, {ElementType::f32}, everything, 1 << 20, 0);
  EXPECT_EQ(total.minimum.index, 1234567u);
  EXPECT_EQ(total.minimum.bits, std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(total.maximum.index, 777u);
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryInstructionSet, ::testing::ValuesIn(available_kernels()),
                         [](const auto& kernels) { return kernels_name(kernels.param); });

TEST(ReduceEngine, StartsAgainAfterFinish) {
  const auto backend = make_backend(2);
  const auto engine = backend->make_reduce_engine({{ElementType::i32}, {}, 10}, everything);
  EXPECT_EQ(engine->finish().count, 0);
  const std::vector<std::int32_t> elements{1, 2, 3};
  const Ticket ticket = engine->take(0);
  put_elements(elements, native_byte_order, ticket.memory.data());
  engine->submit(ticket, staged_run({}, {0, 3}));
  EXPECT_EQ(engine->finish().sum.rounded(), 6.0);
  EXPECT_EQ(engine->finish().count, 0);
}

TEST(Backend, SaysWhatItIs) {
  EXPECT_EQ(make_backend(1)->name(), "cpu");
  EXPECT_EQ(make_backend(1)->device(), "1 thread, " + instruction_set());
  EXPECT_EQ(make_backend(2)->device(), "2 threads, " + instruction_set());
}

}  // namespace
}  // namespace warpfold::cpu
