#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "core/results/accumulator.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

template <class T>
constexpr ElementType type_of() {
  for (const ElementType type : all_element_types)
    if (visit_element_type(type, [](auto t) { return std::is_same_v<decltype(t), T>; }))
      return type;
  return ElementType::f64;
}

template <class T>
Accumulator reduced_on_gpu(const std::vector<T>& elements, std::uint64_t slab_elements = 1 << 16,
                           ReduceNeeds needs = everything, ByteOrder order = native_byte_order,
                           std::uint64_t first_index = 0) {
  const auto backend = make_backend({});
  return reduce_all(*backend, {{type_of<T>(), order}, {}, slab_elements}, needs,
                    bytes_of(elements, order), first_index);
}

/// magnitude * 2^exponent.
template <class Number>
Number number_of(uint128 magnitude, int exponent, bool negative = false) {
  Number number{};
  number.add(magnitude, exponent);
  number.normalize();
  if (negative) number.negate();
  return number;
}

template <class Number>
bool operator==(const Number& a, const Number& b) requires requires {
  a.limb;
}
{ return std::equal(std::begin(a.limb), std::end(a.limb), std::begin(b.limb)); }

using CudaReduce = GpuTest;

template <class T>
class CudaReduceOf : public GpuTest {};

TYPED_TEST_SUITE(CudaReduceOf, Integers);

TYPED_TEST(CudaReduceOf, TheExtremesOfTheTypeAddUpExactly) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr std::uint64_t count = 10007;
  for (const TypeParam value : {Limits::max(), Limits::lowest()}) {
    const bool negative = value < TypeParam{1} && value != TypeParam{0};
    const auto wide = static_cast<int128>(value);
    const auto magnitude = static_cast<uint128>(negative ? -wide : wide);
    const Accumulator result = reduced_on_gpu(std::vector<TypeParam>(count, value), 4099);
    EXPECT_TRUE(result.sum == number_of<ExactSum>(magnitude * count, 0, negative));
    EXPECT_TRUE(result.absolute == number_of<ExactSum>(magnitude * count, 0));
    ExactSumOfSquares squares{};
    for (std::uint64_t i = 0; i < count; ++i) squares.add(magnitude * magnitude, 0);
    squares.normalize();
    EXPECT_TRUE(result.squares == squares);
    EXPECT_EQ(result.count, static_cast<std::int64_t>(count));
    EXPECT_EQ(result.minimum.index, 0u);
    EXPECT_EQ(result.maximum.index, 0u);
    EXPECT_EQ(static_cast<TypeParam>(result.minimum.bits), value);
    EXPECT_EQ(static_cast<TypeParam>(result.maximum.bits), value);
  }
}

TYPED_TEST(CudaReduceOf, EveryLengthUpToSomeVectorsIsCountedWhole) {
  const auto backend = make_backend({});
  const StagingPlan plan{{type_of<TypeParam>(), native_byte_order}, {}, 256};
  for (std::uint64_t length = 0; length < 70; ++length) {
    const auto bytes = bytes_of(std::vector<TypeParam>(length, 1));
    const Accumulator result = reduce_all(*backend, plan, everything, bytes);
    EXPECT_EQ(result.count, static_cast<std::int64_t>(length));
    EXPECT_TRUE(result.sum == number_of<ExactSum>(length, 0)) << length;
  }
}

TYPED_TEST(CudaReduceOf, ByteOrderIsUndone) {
  std::vector<TypeParam> elements(1000);
  int128 sum = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = static_cast<TypeParam>(i * 0x9e3779b97f4a7c15u);
    sum += elements[i];
  }
  const auto magnitude = static_cast<uint128>(sum < 0 ? -sum : sum);
  for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
    EXPECT_TRUE(reduced_on_gpu(elements, 64, everything, order).sum ==
                number_of<ExactSum>(magnitude, 0, sum < 0));
}

TEST_F(CudaReduce, HugeTermsCancelToTheSmallOnes) {
  std::vector<double> elements;
  for (int i = 0; i < 3000; ++i) {
    elements.push_back(1e308);
    elements.push_back(1.0);
    elements.push_back(-1e308);
    elements.push_back(0x1p-1074);
  }
  ExactSum expected = number_of<ExactSum>(3000, 0);
  expected.add(number_of<ExactSum>(3000, -1074));
  EXPECT_TRUE(reduced_on_gpu(elements, 1000).sum == expected);
}

TEST_F(CudaReduce, TheGreatestDoublesAddUpExactly) {
  constexpr std::uint64_t count = 100003;
  const std::vector<double> elements(count, std::numeric_limits<double>::max());
  constexpr uint128 significand = (uint128{1} << 53) - 1;
  const Accumulator result = reduced_on_gpu(elements);
  EXPECT_TRUE(result.sum == number_of<ExactSum>(significand * count, 971));
  EXPECT_TRUE(result.absolute == number_of<ExactSum>(significand * count, 971));
  EXPECT_TRUE(result.squares ==
              number_of<ExactSumOfSquares>(significand * significand * count, 2 * 971));
}

TEST_F(CudaReduce, TheLeastDoublesAddUpExactly) {
  constexpr std::uint64_t count = 100003;
  const std::vector<double> elements(count, -0x1p-1074);
  const Accumulator result = reduced_on_gpu(elements);
  EXPECT_TRUE(result.sum == number_of<ExactSum>(count, -1074, true));
  EXPECT_TRUE(result.absolute == number_of<ExactSum>(count, -1074));
  EXPECT_TRUE(result.squares == number_of<ExactSumOfSquares>(count, -2148));
}

TEST_F(CudaReduce, SquaresKeepTheirLowHalves) {
  constexpr std::uint64_t count = 100003;
  constexpr uint128 significand = (uint128{1} << 52) + 1;
  for (const int exponent : {0, -400, -479, -480, -481, -482, 469, 470, 471, 900}) {
    const std::vector<double> elements(count, std::ldexp(1 + 0x1p-52, exponent));
    EXPECT_TRUE(
        reduced_on_gpu(elements, 1 << 16, {false, false, true, false}).squares ==
        number_of<ExactSumOfSquares>(significand * significand * count, 2 * (exponent - 52)))
        << exponent;
  }
}

TEST_F(CudaReduce, NeighboursOfTheHugeBoundAddUpExactly) {
  constexpr std::uint64_t count = 50001;
  constexpr uint128 below = (uint128{1} << 53) - 1;
  const std::vector<double> just_below(count, std::nextafter(0x1p960, 0.0));
  const std::vector<double> at_bound(count, 0x1p960);
  EXPECT_TRUE(reduced_on_gpu(just_below).sum == number_of<ExactSum>(below * count, 960 - 53));
  EXPECT_TRUE(reduced_on_gpu(at_bound).sum == number_of<ExactSum>(count, 960));
}

TEST_F(CudaReduce, NonFiniteElementsAreCountedNotAdded) {
  std::vector<float> elements(20000, 1.0f);
  for (const std::size_t i : {777u, 5000u, 19999u})
    elements[i] = std::numeric_limits<float>::quiet_NaN();
  elements[100] = std::numeric_limits<float>::infinity();
  elements[19998] = -std::numeric_limits<float>::infinity();
  elements[19997] = -std::numeric_limits<float>::infinity();
  const Accumulator result =
      reduced_on_gpu(elements, 3000, everything, native_byte_order, std::uint64_t{1} << 40);
  EXPECT_EQ(result.count, 20000);
  EXPECT_EQ(result.nan_count, 3);
  EXPECT_EQ(result.positive_infinities, 1);
  EXPECT_EQ(result.negative_infinities, 2);
  EXPECT_EQ(result.first_nan, (std::uint64_t{1} << 40) + 777);
  EXPECT_TRUE(result.sum == number_of<ExactSum>(20000 - 6, 0));
  EXPECT_EQ(result.minimum.index, (std::uint64_t{1} << 40) + 19997);
  EXPECT_EQ(std::bit_cast<double>(result.minimum.bits), -infinity);
  EXPECT_EQ(result.maximum.index, (std::uint64_t{1} << 40) + 100);
  EXPECT_EQ(std::bit_cast<double>(result.maximum.bits), infinity);
}

TEST_F(CudaReduce, OnlyNanLeavesNoExtrema) {
  const Accumulator result = reduced_on_gpu(std::vector<double>(1000, quiet_nan));
  EXPECT_EQ(result.nan_count, 1000);
  EXPECT_EQ(result.first_nan, 0u);
  EXPECT_FALSE(result.minimum.seen());
  EXPECT_FALSE(result.maximum.seen());
}

TEST_F(CudaReduce, TheLowerIndexOfEqualElementsWins) {
  std::vector<double> elements(500000, 0.0);
  elements[0] = -0.0;
  for (std::size_t i = 123457; i < elements.size(); i += 1000) elements[i] = 5.0;
  for (std::size_t i = 1234; i < elements.size(); i += 777)
    if (elements[i] == 0.0) elements[i] = -0.0;
  const Accumulator result = reduced_on_gpu(elements, 70000);
  EXPECT_EQ(result.minimum.index, 0u);
  EXPECT_EQ(result.minimum.bits, std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(result.maximum.index, 123457u);
}

TEST_F(CudaReduce, HalfPrecisionSubnormalsAndExtremesAddUpExactly) {
  std::vector<Float16> elements(30001, Float16{0x7bff});
  EXPECT_TRUE(reduced_on_gpu(elements).sum == number_of<ExactSum>(65504u * 30001u, 0));
  elements.assign(30001, Float16{0x8001});
  EXPECT_TRUE(reduced_on_gpu(elements).sum == number_of<ExactSum>(30001, -24, true));
  EXPECT_TRUE(reduced_on_gpu(elements).squares == number_of<ExactSumOfSquares>(30001, -48));
}

TEST_F(CudaReduce, WhatIsNotNeededStaysEmpty) {
  const Accumulator result = reduced_on_gpu(std::vector<double>(5000, 3.0), 1000, {});
  EXPECT_EQ(result.count, 5000);
  EXPECT_TRUE(result.sum == ExactSum{});
  EXPECT_TRUE(result.absolute == ExactSum{});
  EXPECT_TRUE(result.squares == ExactSumOfSquares{});
  EXPECT_FALSE(result.minimum.seen());
}

TEST_F(CudaReduce, FinishCanBeFollowedByMore) {
  const auto backend = make_backend({});
  const auto engine =
      backend->make_reduce_engine({{ElementType::u32}, {}, 1000, 0, Staging::run, 3}, everything);
  const auto bytes = bytes_of(std::vector<std::uint32_t>(2500, 2));
  EXPECT_EQ(engine->finish().count, 0);
  reduce_into(*engine, bytes, 4);
  EXPECT_TRUE(engine->finish().sum == number_of<ExactSum>(5000, 0));
  reduce_into(*engine, bytes, 4);
  EXPECT_TRUE(engine->finish().sum == number_of<ExactSum>(10000, 0));
}

TEST_F(CudaReduce, LittleMemoryTakesSlotsThenShrinksSlabsThenIsRefused) {
  constexpr std::uint64_t slab = 1 << 20;
  StagingPlan plan{{ElementType::f64, native_byte_order}, {}, slab, slab * 8 + 8192};
  plan.threads = 7;
  const auto elements = std::vector<double>(slab + 5, 1.0);
  int threads = 8;
  for (const std::uint64_t memory : {64u << 20, 24u << 20, 12u << 20, 3u << 20, 128u << 10}) {
    const auto backend = make_backend_with(memory);
    const auto engine = backend->make_reduce_engine(plan, everything);
    EXPECT_LT(engine->threads(), threads);
    threads = std::max(engine->threads(), 2);
    EXPECT_LE(static_cast<unsigned>(engine->threads()) * engine->slab_elements() * 8, memory);
    EXPECT_GE(engine->take(0).memory.size(), engine->slab_elements() * 8);
    if (memory >= 12u << 20)
      EXPECT_EQ(engine->slab_elements(), slab);
    else
      EXPECT_EQ(engine->slab_elements() * 8 % (64u << 10), 0u);
    reduce_into(*engine, bytes_of(elements), 8);
    EXPECT_TRUE(engine->finish().sum == number_of<ExactSum>(slab + 5, 0));
  }
  EXPECT_THROW(make_backend_with(1000)->make_reduce_engine(plan, everything), Error);
}

TEST_F(CudaReduce, ASlabBeyondTheSlotIsRefused) {
  const auto backend = make_backend({});
  const auto engine =
      backend->make_reduce_engine({{ElementType::u8, native_byte_order}, {}, 100, 120}, everything);
  EXPECT_THROW(engine->submit(engine->take(0), staged_run({}, {0, 101})), Error);
  EXPECT_THROW(engine->submit(engine->take(0), staged_run({0, 21}, {0, 100})), Error);
}

TEST_F(CudaReduce, BytesBeforeTheElementsAreSkipped) {
  const auto backend = make_backend({});
  const auto engine = backend->make_reduce_engine(
      {{ElementType::u16, native_byte_order}, {}, 1000, 2200}, everything);
  for (const std::uint64_t skipped : {0u, 2u, 14u, 198u}) {
    const std::vector<std::uint16_t> ones(1000, 1);
    const std::vector<std::uint16_t> noise(1100, 0xbeef);
    const Ticket ticket = engine->take(0);
    std::memcpy(ticket.memory.data(), noise.data(), 2200);
    std::memcpy(ticket.memory.data() + skipped, ones.data(), 2000);
    engine->submit(ticket, staged_run({0, skipped}, {0, 1000}));
  }
  EXPECT_TRUE(engine->finish().sum == number_of<ExactSum>(4000, 0));
}

TEST_F(CudaReduce, BuffersBeginAtPages) {
  const auto backend = make_backend({});
  StagingPlan plan{{ElementType::f32, native_byte_order}, {}, 1 << 20, (4 << 20) + 4096};
  plan.threads = 4;
  const auto engine = backend->make_reduce_engine(plan, everything);
  ASSERT_EQ(engine->threads(), 4);
  for (int thread = 0; thread < 4; ++thread)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(engine->take(thread).memory.data()) % 4096, 0u);
}

TEST_F(CudaReduce, ThreadsFillTheirSlotsAtOnce) {
  constexpr int threads = 8;
  constexpr std::uint64_t slab = 10007;
  constexpr std::uint64_t slabs = 50;
  const auto backend = make_backend({});
  StagingPlan plan{{ElementType::i64, native_byte_order}, {}, slab};
  StageRegistry registry;
  plan.stages = &registry;
  plan.threads = threads;
  plan.slots_per_thread = 2;
  const auto engine = backend->make_reduce_engine(plan, everything);
  ASSERT_EQ(engine->threads(), threads);
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      for (std::uint64_t round = 0; round < slabs; ++round) {
        const Ticket ticket = engine->take(thread);
        const std::uint64_t number = round * threads + static_cast<unsigned>(thread);
        auto* elements = reinterpret_cast<std::int64_t*>(ticket.memory.data());
        std::iota(elements, elements + slab, static_cast<std::int64_t>(number * slab));
        engine->submit(ticket, staged_run({}, {0, slab}, number * slab));
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  const Accumulator result = engine->finish();
  constexpr std::uint64_t count = slab * slabs * threads;
  EXPECT_EQ(result.count, static_cast<std::int64_t>(count));
  EXPECT_TRUE(result.sum == number_of<ExactSum>(uint128{count} * (count - 1) / 2, 0));
  EXPECT_EQ(result.minimum.index, 0u);
  EXPECT_EQ(result.maximum.index, count - 1);
  const auto timings = engine->timings();
  ASSERT_EQ(timings.size(), 2u);
  for (const StageTiming& timing : timings) {
    EXPECT_EQ(timing.bytes, count * 8);
    EXPECT_GT(timing.seconds, 0);
    EXPECT_LT(timing.seconds, 60);
  }
  EXPECT_EQ(timings[0].stage, "copy to GPU");
  EXPECT_EQ(timings[1].stage, "fold");
  const auto shown = registry.progress();
  ASSERT_EQ(shown.size(), 2u);
  for (std::size_t i = 0; i < shown.size(); ++i) {
    EXPECT_EQ(shown[i].stage, timings[i].stage);
    EXPECT_EQ(shown[i].threads, 1);
    EXPECT_TRUE(shown[i].running);
    EXPECT_EQ(shown[i].bytes, timings[i].bytes);
    EXPECT_DOUBLE_EQ(shown[i].busy, timings[i].seconds);
  }
}

}  // namespace
}  // namespace warpfold::cuda
