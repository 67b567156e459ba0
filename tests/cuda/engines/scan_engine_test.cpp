#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <thread>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "cuda/engines/backend.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::size_t scanned_sizes[] = {1, 3, 4, 127, 128, 129, 511, 513, 4095, 4096, 4097, 30011};

ScanSpec spec_of(ElementType input, ElementType output, ScanOperation operation,
                 bool exclusive = false, OverflowPolicy overflow = OverflowPolicy::error) {
  return {{input, native_byte_order}, operation, exclusive, output, overflow};
}

/// In blocks of three tiles and pieces of one.
template <class T>
ScanResult scanned(const std::vector<T>& elements, const ScanSpec& spec,
                   const Accumulator& before = Accumulator::empty(),
                   std::uint64_t first_index = 0) {
  const auto backend = make_backend({});
  const auto engine = backend->make_scan_engine(packed_plan(spec.input, tile, 3 * tile), spec);
  return scan_all(*engine, bytes_of(elements, spec.input.order), spec, tile, before, first_index);
}

/// NaN equals NaN, and zeros their own sign only.
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return bytes_of(a) == bytes_of(b);
}

using CudaScan = GpuTest;

template <class T>
class CudaIntegerScan : public GpuTest {
 protected:
  static ElementType type() {
    for (const ElementType type : all_element_types)
      if (visit_element_type(type, [](auto t) { return std::is_same_v<decltype(t), T>; }))
        return type;
    return ElementType::i8;
  }
};

TYPED_TEST_SUITE(CudaIntegerScan, Integers);

/// Elements whose sums 64 bits hold.
template <class T>
std::vector<T> modest(std::size_t size) {
  auto elements = sample<T>(Sample::uniform, size, size);
  if constexpr (sizeof(T) == 8)
    for (T& element : elements) element /= 1 << 20;
  return elements;
}

TYPED_TEST(CudaIntegerScan, PrefixSumsAreThoseOfOneAfterTheOther) {
  using Out = std::conditional_t<std::is_signed_v<TypeParam>, std::int64_t, std::uint64_t>;
  const ElementType type = this->type();
  for (const std::size_t size : scanned_sizes) {
    const auto elements = modest<TypeParam>(size);
    std::vector<Out> inclusive;
    std::vector<Out> exclusive;
    Out sum = 0;
    for (const TypeParam element : elements) {
      exclusive.push_back(sum);
      inclusive.push_back(sum += static_cast<Out>(element));
    }
    const ElementType output = default_scan_output(type, ScanOperation::sum);
    ScanSpec spec = spec_of(type, output, ScanOperation::sum);
    EXPECT_EQ(scanned(elements, spec).template as<Out>(), inclusive) << size;
    spec.exclusive = true;
    spec.input.order = ByteOrder::big;
    EXPECT_EQ(scanned(elements, spec).template as<Out>(), exclusive) << size;
  }
}

TYPED_TEST(CudaIntegerScan, ExtremaAreThoseOfOneAfterTheOther) {
  using Limits = std::numeric_limits<TypeParam>;
  const ElementType type = this->type();
  for (const bool maximum : {false, true}) {
    const auto operation = maximum ? ScanOperation::max : ScanOperation::min;
    const auto elements = sample<TypeParam>(Sample::wide, 30011, 4);
    std::vector<TypeParam> inclusive;
    std::vector<TypeParam> exclusive;
    TypeParam best = maximum ? Limits::lowest() : Limits::max();
    for (const TypeParam element : elements) {
      exclusive.push_back(best);
      best = maximum ? std::max(best, element) : std::min(best, element);
      inclusive.push_back(best);
    }
    EXPECT_EQ(scanned(elements, spec_of(type, type, operation)).template as<TypeParam>(),
              inclusive);
    EXPECT_EQ(scanned(elements, spec_of(type, type, operation, true)).template as<TypeParam>(),
              exclusive);
  }
}

TEST_F(CudaScan, OverflowNamesTheFirstIndexThatDoesNotFit) {
  const std::vector<std::int32_t> ones(20000, 1);
  const auto i8 = spec_of(ElementType::i32, ElementType::i8, ScanOperation::sum);
  EXPECT_EQ(scanned(ones, i8).overflow, 127u);
  const auto i16 = spec_of(ElementType::i32, ElementType::i16, ScanOperation::sum);
  EXPECT_EQ(scanned(ones, i16).overflow, std::nullopt);
  const auto exclusive = spec_of(ElementType::i32, ElementType::i8, ScanOperation::sum, true);
  EXPECT_EQ(scanned(ones, exclusive, Accumulator::empty(), 1000).overflow, 1128u);
}

TEST_F(CudaScan, OverflowLooksAtEveryPrefixNotTheLastOnly) {
  std::vector<std::int64_t> elements(30000, 0);
  elements[17000] = std::numeric_limits<std::int64_t>::max();
  elements[17001] = 1;
  elements[17002] = -1;
  const auto spec = spec_of(ElementType::i64, ElementType::i64, ScanOperation::sum);
  EXPECT_EQ(scanned(elements, spec).overflow, 17001u);
  const auto u64 = spec_of(ElementType::i64, ElementType::u64, ScanOperation::sum);
  EXPECT_EQ(scanned(elements, u64).overflow, std::nullopt);
  elements[16999] = -5;
  EXPECT_EQ(scanned(elements, u64).overflow, 16999u);
}

TEST_F(CudaScan, PrefixesThatFitAreFoundWhereTheirMagnitudesDoNot) {
  constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  std::vector<std::int64_t> elements(3 * tile + 5);
  std::vector<std::int64_t> expected;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    elements[i] = i % 2 == 0 ? maximum : -maximum;
    expected.push_back(i % 2 == 0 ? maximum : 0);
  }
  const auto spec = spec_of(ElementType::i64, ElementType::i64, ScanOperation::sum);
  const ScanResult result = scanned(elements, spec);
  EXPECT_EQ(result.as<std::int64_t>(), expected);
  EXPECT_EQ(result.overflow, std::nullopt);
}

TEST_F(CudaScan, TheLastPrefixMayBeTheGreatestOfItsType) {
  std::vector<std::uint32_t> elements(2 * tile, 0);
  elements[7] = 0xffff0000u;
  elements.back() = 0xffffu;
  const auto spec = spec_of(ElementType::u32, ElementType::u32, ScanOperation::sum);
  const ScanResult fits = scanned(elements, spec);
  EXPECT_EQ(fits.as<std::uint32_t>().back(), 0xffffffffu);
  EXPECT_EQ(fits.overflow, std::nullopt);
  elements.back() = 0x10000u;
  EXPECT_EQ(scanned(elements, spec).overflow, elements.size() - 1);
}

TEST_F(CudaScan, WrappedSumsAreModular) {
  const auto elements = sample<std::uint64_t>(Sample::uniform, 30011, 1);
  std::vector<std::uint64_t> expected;
  std::uint64_t sum = 0;
  for (const std::uint64_t element : elements) expected.push_back(sum += element);
  const auto spec =
      spec_of(ElementType::u64, ElementType::u64, ScanOperation::sum, false, OverflowPolicy::wrap);
  const ScanResult result = scanned(elements, spec);
  EXPECT_EQ(result.as<std::uint64_t>(), expected);
  EXPECT_EQ(result.overflow, std::nullopt);
}

TEST_F(CudaScan, WhatIsBeforeCounts) {
  Accumulator before = Accumulator::empty();
  before.sum.add(int128{-1000});
  before.sum.normalize();
  const std::vector<std::int32_t> ones(5000, 1);
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < 5000; ++i) expected.push_back(i - 999);
  const auto spec = spec_of(ElementType::i32, ElementType::i64, ScanOperation::sum);
  EXPECT_EQ(scanned(ones, spec, before, tile).as<std::int64_t>(), expected);
}

TEST_F(CudaScan, SumsOfWholeNumbersInFloatsAreExact) {
  for (const std::size_t size : scanned_sizes) {
    std::mt19937_64 random(size);
    std::vector<double> wide(size);
    std::vector<float> narrow(size);
    std::vector<double> wide_sums(size);
    std::vector<float> narrow_sums(size);
    double wide_sum = 0;
    double narrow_sum = 0;
    for (std::size_t i = 0; i < size; ++i) {
      wide[i] = static_cast<double>(random() >> 30) - 0x1p33;
      narrow[i] = static_cast<float>(static_cast<int>(random() % 101) - 50);
      wide_sums[i] = wide_sum += wide[i];
      narrow_sums[i] = static_cast<float>(narrow_sum += static_cast<double>(narrow[i]));
    }
    EXPECT_EQ(
        scanned(wide, spec_of(ElementType::f64, ElementType::f64, ScanOperation::sum)).as<double>(),
        wide_sums);
    EXPECT_EQ(scanned(narrow, spec_of(ElementType::f32, ElementType::f32, ScanOperation::sum))
                  .as<float>(),
              narrow_sums);
  }
}

TEST_F(CudaScan, LaterTilesKeepWhatEarlierOnesCancelled) {
  std::vector<double> elements(3 * tile, 0.0);
  elements[0] = 1e300;
  elements[5] = 1.0;
  elements[tile + 7] = -1e300;
  elements[2 * tile + 1] = 0x1p-1000;
  const auto result =
      scanned(elements, spec_of(ElementType::f64, ElementType::f64, ScanOperation::sum))
          .as<double>();
  EXPECT_EQ(result[tile - 1], 1e300);
  EXPECT_EQ(result[2 * tile], 1.0);
  EXPECT_EQ(result[3 * tile - 1], 1.0);
}

TEST_F(CudaScan, SumsBeyondTheRangeOfDoubleComeBack) {
  std::vector<double> elements(3 * tile, 0.0);
  elements[0] = 1e308;
  elements[1] = 1e308;
  elements[tile] = -1e308;
  elements[2 * tile] = -1e308;
  elements[2 * tile + 1] = 2.5;
  const auto result =
      scanned(elements, spec_of(ElementType::f64, ElementType::f64, ScanOperation::sum))
          .as<double>();
  EXPECT_EQ(result[0], 1e308);
  EXPECT_EQ(result[1], infinity);
  EXPECT_EQ(result[tile - 1], infinity);
  EXPECT_EQ(result[tile], 1e308);
  EXPECT_EQ(result[2 * tile - 1], 1e308);
  EXPECT_EQ(result[2 * tile], 0.0);
  EXPECT_EQ(result[2 * tile + 1], 2.5);
}

TEST_F(CudaScan, NonFiniteElementsLastFromWhereTheyCome) {
  std::vector<float> elements(3 * tile, 0.5f);
  elements[10] = std::numeric_limits<float>::infinity();
  elements[tile + 20] = -std::numeric_limits<float>::infinity();
  const auto spec = spec_of(ElementType::f32, ElementType::f32, ScanOperation::sum);
  auto result = scanned(elements, spec).as<float>();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_EQ(result[i], 0.5f * static_cast<float>(i + 1));
  for (std::size_t i = 10; i < tile + 20; ++i)
    EXPECT_EQ(result[i], std::numeric_limits<float>::infinity());
  for (std::size_t i = tile + 20; i < 3 * tile; ++i) EXPECT_TRUE(std::isnan(result[i]));
  Accumulator before = Accumulator::empty();
  before.negative_infinities = 1;
  result = scanned(elements, spec, before, tile).as<float>();
  EXPECT_EQ(result[9], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(result[10]));
}

TEST_F(CudaScan, RunningExtremaKeepTheFirstZeroAndTheFirstNan) {
  std::vector<double> elements(2 * tile + 100, 1.0);
  elements[50] = -0.0;
  elements[60] = 0.0;
  elements[tile + 1] = 0.0;
  elements[2 * tile + 50] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> expected(elements.size(), 1.0);
  for (std::size_t i = 50; i < elements.size(); ++i) expected[i] = -0.0;
  for (std::size_t i = 2 * tile + 50; i < elements.size(); ++i)
    expected[i] = std::numeric_limits<double>::quiet_NaN();
  const auto spec = spec_of(ElementType::f64, ElementType::f64, ScanOperation::min);
  EXPECT_TRUE(same_bits(scanned(elements, spec).as<double>(), expected));
}

TEST_F(CudaScan, ExclusiveExtremaStartWithTheIdentity) {
  const std::vector<float> elements = {3.0f, 1.0f, 2.0f};
  EXPECT_EQ(scanned(elements, spec_of(ElementType::f32, ElementType::f32, ScanOperation::min, true))
                .as<float>(),
            (std::vector<float>{std::numeric_limits<float>::infinity(), 3.0f, 1.0f}));
  EXPECT_EQ(scanned(elements, spec_of(ElementType::f32, ElementType::f32, ScanOperation::max, true))
                .as<float>(),
            (std::vector<float>{-std::numeric_limits<float>::infinity(), 3.0f, 3.0f}));
}

TEST_F(CudaScan, ReadersAndWritersWorkOnBlocksAtOnce) {
  constexpr int threads = 3;
  constexpr std::uint64_t block_elements = 20 * tile;
  constexpr std::uint64_t piece = 2 * tile;
  const auto backend = make_backend({});
  const auto spec = spec_of(ElementType::u16, ElementType::u64, ScanOperation::sum);
  const auto engine =
      backend->make_scan_engine(packed_plan(spec.input, piece, block_elements, threads), spec);
  ASSERT_GE(engine->blocks(), 3);
  ASSERT_EQ(engine->block_elements(), block_elements);
  const auto elements = sample<std::uint16_t>(Sample::uniform, 3 * block_elements, 5);
  std::vector<std::uint64_t> prefixes(elements.size());
  const auto by_all = [&](auto&& body) {
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] {
        for (std::uint64_t first = static_cast<unsigned>(thread) * piece; first < elements.size();
             first += threads * piece)
          body(thread, static_cast<int>(first / block_elements), first % block_elements, first);
      });
    }
    for (std::thread& worker : workers) worker.join();
  };
  for (int round = 0; round < 5; ++round) {
    by_all([&](int thread, int block, std::uint64_t offset, std::uint64_t first) {
      const Ticket ticket = engine->take(thread, block, {offset, piece});
      std::memcpy(ticket.memory.data(), elements.data() + first, ticket.memory.size());
      engine->submit(ticket, staged_run({}, {offset, piece}));
    });
    Accumulator before = Accumulator::empty();
    for (int block = 0; block < 3; ++block) {
      const Accumulator total = engine->total(block, 0, block_elements);
      engine->scan(block, static_cast<unsigned>(block) * block_elements, block_elements, before);
      append(before, total, 0);
    }
    by_all([&](int thread, int block, std::uint64_t offset, std::uint64_t first) {
      const auto output = engine->output(thread, block, offset, piece);
      std::memcpy(prefixes.data() + first, output.data(), output.size());
    });
    std::vector<std::uint64_t> expected(elements.size());
    std::inclusive_scan(elements.begin(), elements.end(), expected.begin(), std::plus<>(),
                        std::uint64_t{0});
    EXPECT_TRUE(prefixes == expected) << round;
  }
  for (const StageTiming& timing : engine->timings()) EXPECT_GT(timing.seconds, 0) << timing.stage;
}

TEST_F(CudaScan, LittleMemoryMakesSmallBlocksAndTooLittleIsRefused) {
  const auto spec = spec_of(ElementType::f32, ElementType::f64, ScanOperation::sum);
  const BlockEnginePlan plan = packed_plan(spec.input, 1 << 20, 1 << 20);
  const std::vector<float> ones(200000, 1.0f);
  std::vector<double> expected;
  for (std::size_t i = 0; i < ones.size(); ++i) expected.push_back(static_cast<double>(i + 1));
  std::uint64_t elements = plan.block_elements;
  for (const std::uint64_t memory : {64u << 20, 14u << 20, 2u << 20, 60u << 10}) {
    const auto backend = make_backend_with(memory);
    const auto engine = backend->make_scan_engine(plan, spec);
    EXPECT_LE(static_cast<unsigned>(engine->blocks()) * engine->block_elements() * 12, memory);
    EXPECT_LE(engine->block_elements(), elements);
    EXPECT_EQ(engine->block_elements() % tile, 0u);
    elements = engine->block_elements();
    EXPECT_EQ(scan_all(*engine, bytes_of(ones), spec, 16 * tile).as<double>(), expected);
  }
  EXPECT_EQ(elements, tile);
  EXPECT_THROW(make_backend_with(40u << 10)->make_scan_engine(plan, spec), Error);
}

TEST_F(CudaScan, PiecesOutsideTheBlockAreRefused) {
  const auto backend = make_backend({});
  const auto spec = spec_of(ElementType::f32, ElementType::f32, ScanOperation::sum);
  const auto engine = backend->make_scan_engine(packed_plan(spec.input, tile, 2 * tile), spec);
  EXPECT_THROW(engine->take(0, 0, {2 * tile, 1}), Error);
  EXPECT_THROW(engine->take(0, engine->blocks(), {0, 1}), Error);
  const Ticket ticket = engine->take(0, 0, {0, 1});
  engine->submit(ticket, staged_run({}, {0, 1}));
  EXPECT_THROW(engine->submit(ticket, staged_run({}, {0, 1})), Error) << "submitted twice";
}

}  // namespace
}  // namespace warpfold::cuda
