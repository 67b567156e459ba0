#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <future>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;

constexpr AxisSlab shapes[] = {{1, 900, 1}, {7, 130, 1}, {1, 90, 45}, {3, 40, 11}, {2, 1, 5}};
constexpr Kind line_kinds[] = {Kind::wide, Kind::cancelling, Kind::subnormal, Kind::sprinkled,
                               Kind::zeros};

/// The elements [first, first + along) of every line, packed, and scanned by an engine.
template <class Out, class T>
std::vector<Out> scanned_piece(AxisScanEngine& engine, const std::vector<T>& elements,
                               ByteOrder order, const AxisSlab& whole, std::uint64_t first,
                               std::uint64_t along) {
  std::vector<T> piece;
  for (std::uint64_t o = 0; o < whole.outer; ++o) {
    const auto begin =
        elements.begin() + static_cast<std::ptrdiff_t>((o * whole.along + first) * whole.inner);
    piece.insert(piece.end(), begin, begin + static_cast<std::ptrdiff_t>(along * whole.inner));
  }
  const std::uint64_t turn = first == 0 ? 0 : 1;
  const Ticket ticket = engine.take(0, {whole.outer, along, whole.inner, turn});
  put_elements(piece, order, ticket.memory.data());
  engine.submit(ticket, staged_run({}, {0, piece.size()}));
  const auto bytes = engine.scan(0);
  std::vector<Out> prefixes(piece.size());
  std::memcpy(prefixes.data(), bytes->data(), bytes->size());
  return prefixes;
}

/// All prefixes, by slabs of a few indices along the axis each.
template <class Out, class T>
std::vector<Out> scanned(const std::vector<T>& elements, const ScanSpec& spec,
                         const AxisSlab& whole, const Decoding& decoding = {}) {
  constexpr std::uint64_t step = 37;
  const auto engine = make_backend(1)->make_axis_scan_engine(
      {spec.input, decoding, whole.lines() * step}, {spec, whole.lines()});
  std::vector<Out> prefixes(elements.size());
  for (std::uint64_t first = 0; first < whole.along; first += step) {
    const std::uint64_t along = std::min(step, whole.along - first);
    const auto piece = scanned_piece<Out>(*engine, elements, spec.input.order, whole, first, along);
    EXPECT_FALSE(engine->overflow(0));
    for (std::uint64_t o = 0; o < whole.outer; ++o)
      for (std::uint64_t k = 0; k < along * whole.inner; ++k)
        prefixes[(o * whole.along + first) * whole.inner + k] = piece[o * along * whole.inner + k];
  }
  return prefixes;
}

/// Calls body(flat index, state) along every line, with a new state for each.
template <class State, class Body>
void for_each_along_lines(const AxisSlab& shape, State start, Body&& body) {
  for (std::uint64_t o = 0; o < shape.outer; ++o) {
    for (std::uint64_t i = 0; i < shape.inner; ++i) {
      State state = start;
      for (std::uint64_t a = 0; a < shape.along; ++a)
        body((o * shape.along + a) * shape.inner + i, state);
    }
  }
}

template <class Out>
Out rounded(const Accumulator& sum) {
  const double special =
      scan_order::with_specials(0.0,
                                {sum.nan_count > 0 ? -1 : 0, sum.positive_infinities > 0 ? -1 : 0,
                                 sum.negative_infinities > 0 ? -1 : 0},
                                0);
  if (special != 0.0) return output_element<Out>(special);
  return output_element<Out>(sum.sum.rounded(rounding_towards<Out>));
}

void add(Accumulator& sum, double x) {
  if (std::isnan(x))
    ++sum.nan_count;
  else if (std::isinf(x))
    ++(x > 0 ? sum.positive_infinities : sum.negative_infinities);
  else
    sum.sum.add(x);
  sum.sum.normalize();
}

template <class T, class Out>
void expect_true_sums(ByteOrder order) {
  for (const AxisSlab& shape : shapes) {
    for (const Kind kind : line_kinds) {
      const auto elements = make_elements<T>(kind, shape.lines() * shape.along, 3);
      for (const bool exclusive : {false, true}) {
        const ScanSpec spec{
            {element_type_of<T>(), order}, ScanOperation::sum, exclusive, element_type_of<Out>()};
        const auto prefixes = scanned<Out>(elements, spec, shape);
        for_each_along_lines(shape, Accumulator::empty(), [&](std::uint64_t i, Accumulator& sum) {
          const Accumulator before = sum;
          add(sum, widened(elements[i]));
          const Out expected = rounded<Out>(exclusive ? before : sum);
          ASSERT_EQ(std::memcmp(&prefixes[i], &expected, sizeof(Out)), 0)
              << widened(prefixes[i]) << " is not " << widened(expected) << " at " << i;
        });
      }
    }
  }
}

TEST(AxisScan, SumsOfFloatsAreTheTruePrefixes) {
  expect_true_sums<double, double>(ByteOrder::big);
  expect_true_sums<double, float>(ByteOrder::little);
  expect_true_sums<float, float>(ByteOrder::little);
  expect_true_sums<float, double>(ByteOrder::big);
  expect_true_sums<Float16, Float16>(ByteOrder::big);
  expect_true_sums<BFloat16, BFloat16>(ByteOrder::little);
}

template <class T, class Out>
void expect_integer_sums() {
  for (const AxisSlab& shape : shapes) {
    const auto elements = make_elements<T>(Kind::uniform, shape.lines() * shape.along, 4);
    for (const bool exclusive : {false, true}) {
      const ScanSpec spec{{element_type_of<T>(), ByteOrder::big},
                          ScanOperation::sum,
                          exclusive,
                          element_type_of<Out>()};
      const auto prefixes = scanned<Out>(elements, spec, shape);
      for_each_along_lines(shape, int128{0}, [&](std::uint64_t i, int128& sum) {
        const int128 before = sum;
        sum += elements[i];
        ASSERT_EQ(prefixes[i], static_cast<Out>(exclusive ? before : sum)) << i;
      });
    }
  }
}

TEST(AxisScan, SumsOfIntegers) {
  expect_integer_sums<std::int8_t, std::int64_t>();
  expect_integer_sums<std::uint16_t, std::uint64_t>();
  expect_integer_sums<std::int32_t, std::int64_t>();
  expect_integer_sums<std::uint64_t, std::uint64_t>();
  expect_integer_sums<std::int64_t, double>();
}

TEST(AxisScan, NamesTheLeastPlaceThatOverflows) {
  constexpr std::int64_t maximum = std::numeric_limits<std::int64_t>::max();
  const AxisSlab shape{1, 3, 2};
  const std::vector<std::int64_t> elements = {1, maximum, 2, 1, maximum, 4};
  ScanSpec spec{{ElementType::i64}, ScanOperation::sum, false, ElementType::i64};
  for (const OverflowPolicy policy : {OverflowPolicy::error, OverflowPolicy::wrap}) {
    spec.overflow = policy;
    const auto engine =
        make_backend(1)->make_axis_scan_engine({spec.input, {}, elements.size()}, {spec, 2});
    const auto prefixes =
        scanned_piece<std::int64_t>(*engine, elements, native_byte_order, shape, 0, 3);
    const bool wraps = policy == OverflowPolicy::wrap;
    EXPECT_EQ(engine->overflow(0), wraps ? std::nullopt : std::optional<std::uint64_t>(3));
    if (wraps) {
      EXPECT_EQ(prefixes[3], std::numeric_limits<std::int64_t>::min());
    }
  }
}

template <class T>
void expect_extrema(ScanOperation operation, T identity) {
  const bool minimum = operation == ScanOperation::min;
  for (const AxisSlab& shape : shapes) {
    for (const Kind kind : {Kind::sprinkled, Kind::zeros, Kind::wide}) {
      const auto elements = make_elements<T>(kind, shape.lines() * shape.along, 5);
      for (const bool exclusive : {false, true}) {
        const ScanSpec spec{
            {element_type_of<T>(), ByteOrder::big}, operation, exclusive, element_type_of<T>()};
        const auto prefixes = scanned<T>(elements, spec, shape);
        for_each_along_lines(shape, identity, [&](std::uint64_t i, T& best) {
          const T before = best;
          const bool better = minimum ? elements[i] < best : elements[i] > best;
          if (elements[i] != elements[i])
            best = std::numeric_limits<T>::quiet_NaN();
          else if (better)
            best = elements[i];
          const T expected = exclusive ? before : best;
          ASSERT_EQ(std::memcmp(&prefixes[i], &expected, sizeof(T)), 0) << i;
        });
      }
    }
  }
}

TEST(AxisScan, ExtremaAndTheirNan) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  expect_extrema<double>(ScanOperation::min, infinity);
  expect_extrema<float>(ScanOperation::max, static_cast<float>(-infinity));
  expect_extrema<std::int16_t>(ScanOperation::min, std::numeric_limits<std::int16_t>::max());
  expect_extrema<std::uint64_t>(ScanOperation::max, 0);
}

TEST(AxisScan, WhatIsLeftOutAddsNothing) {
  Decoding decoding;
  decoding.stored.excluded[0] = ordered_key(std::int32_t{7});
  decoding.stored.excluded_count = 1;
  const AxisSlab shape{2, 3, 1};
  const std::vector<std::int32_t> elements = {1, 7, 2, 7, 7, 5};
  ScanSpec spec{{ElementType::i32}, ScanOperation::sum, false, ElementType::i64};
  EXPECT_EQ(scanned<std::int64_t>(elements, spec, shape, decoding),
            (std::vector<std::int64_t>{1, 1, 3, 0, 0, 5}));
  spec.operation = ScanOperation::min;
  spec.output = ElementType::i32;
  constexpr std::int32_t maximum = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(scanned<std::int32_t>(elements, spec, shape, decoding),
            (std::vector<std::int32_t>{1, 1, 1, maximum, maximum, 5}));
  decoding.unpacking = {true, ElementType::f64, 0.5, 1.0};
  spec.operation = ScanOperation::sum;
  spec.output = ElementType::f64;
  EXPECT_EQ(scanned<double>(elements, spec, shape, decoding),
            (std::vector{1.5, 1.5, 3.5, 0.0, 0.0, 3.5}));
}

/// Two threads of an engine that sums lines of two elements of 1 each, one an element a slab.
class SharedLinesTest : public ::testing::Test {
 protected:
  /// Has a thread submit slab number `turn` of two.
  void submit(int thread, std::uint64_t turn) {
    const Ticket ticket = engine_->take(thread, slab(turn));
    put_elements(std::vector<std::int64_t>(lines, 1), native_byte_order, ticket.memory.data());
    engine_->submit(ticket, staged_run({}, {0, lines}));
  }

  static AxisSlab slab(std::uint64_t turn) { return {1, 1, lines, turn, 0, turn == 1}; }

  /// Scans the second slab in a thread of its own, while `meanwhile` happens.
  template <class Meanwhile>
  bool second_is_scanned(Meanwhile&& meanwhile) {
    submit(1, 1);
    auto second = std::async(std::launch::async, [&] { return engine_->scan(1).has_value(); });
    meanwhile();
    return second.get();
  }

  static constexpr std::uint64_t lines = 50;
  static constexpr ScanSpec spec{{ElementType::i64}, ScanOperation::sum, false, ElementType::i64};
  std::unique_ptr<AxisScanEngine> engine_ = make_backend(2)->make_axis_scan_engine(
      {.format = spec.input, .slab_elements = lines, .threads = 2}, {spec, lines});
};

TEST_F(SharedLinesTest, ASlabWaitsForTheOneBefore) {
  ASSERT_TRUE(engine_->shares_lines());
  EXPECT_TRUE(second_is_scanned([&] {
    submit(0, 0);
    EXPECT_TRUE(engine_->scan(0));
  }));
  submit(0, 0);
  engine_->scan(0);
  submit(1, 1);
  const auto prefixes = engine_->scan(1);
  const std::vector<std::int64_t> twos(lines, 2);
  EXPECT_EQ(std::memcmp(prefixes->data(), twos.data(), prefixes->size()), 0);
}

TEST_F(SharedLinesTest, ASlabIsLostBehindOneThatIsLeftOut) {
  EXPECT_FALSE(second_is_scanned([&] { engine_->leave_out(slab(0)); }));
}

TEST_F(SharedLinesTest, ASlabIsLostWhereWaitingIsToStop) {
  EXPECT_FALSE(second_is_scanned([&] { engine_->stop(); }));
}

}  // namespace
}  // namespace warpfold::cpu
