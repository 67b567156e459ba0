#include "cuda/scan/scan_method.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr ElementType floats[] = {ElementType::f16, ElementType::bf16, ElementType::f32,
                                  ElementType::f64};

/// Some tiles, and as many that each multiprocessor takes more than two.
std::vector<std::size_t> series_sizes() {
  const auto rounds = static_cast<std::size_t>(9 * multiprocessors() / 4 + 3);
  return {1, 31, 32, 33, 4095, 4096, 4097, 8192, 5 * tile + 1, rounds * tile + 77};
}

/// Series that put the ways a scan can go to the test; doubles, to be rounded to the type.
enum class Series {
  uniform,
  sixty_orders,
  rising_tiles,
  falling_tiles,
  rising_within_tiles,
  huge,
  alternating,
  ties,
  small_integers,
  zeros,
  negative_zeros,
  cancelling,
  filled,
  largest,
  subnormal,
  least_normal,
  subnormal_in_f32,
  subnormal_in_f16,
  zeros_of_both_signs,
  non_finite_at_edges,
  wide_in_places,
  halves_above_a_trace,
  halves_below_a_trace,
  halves_above_a_far_trace,
  halves_that_cancel,
  tails,
  tails_that_cancel,
  tails_of_falling_tiles,
  tails_in_places
};

constexpr Series all_series[] = {Series::uniform,
                                 Series::sixty_orders,
                                 Series::rising_tiles,
                                 Series::falling_tiles,
                                 Series::rising_within_tiles,
                                 Series::huge,
                                 Series::alternating,
                                 Series::ties,
                                 Series::small_integers,
                                 Series::zeros,
                                 Series::negative_zeros,
                                 Series::cancelling,
                                 Series::filled,
                                 Series::largest,
                                 Series::subnormal,
                                 Series::least_normal,
                                 Series::subnormal_in_f32,
                                 Series::subnormal_in_f16,
                                 Series::zeros_of_both_signs,
                                 Series::non_finite_at_edges,
                                 Series::wide_in_places,
                                 Series::halves_above_a_trace,
                                 Series::halves_below_a_trace,
                                 Series::halves_above_a_far_trace,
                                 Series::halves_that_cancel,
                                 Series::tails,
                                 Series::tails_that_cancel,
                                 Series::tails_of_falling_tiles,
                                 Series::tails_in_places};

/// 2^14 and steps up and down: prefixes lie between two of some type, but for a trace.
double halves_with(double trace, std::size_t i) {
  if (i == 0) return trace;
  if (i == 1) return 0x1p14;
  const double step = std::ldexp(1.0, 6 - static_cast<int>(i / 2048 % 48));
  return i % 2 == 0 ? step : -step;
}

/// Over more binary orders than a window has: those of f64, or in every other tile those of f32.
double tail_of(double u, std::uint64_t order, bool within_f32) {
  return within_f32 ? std::ldexp(u, 100 - static_cast<int>(order % 249))
                    : std::ldexp(u, -static_cast<int>(order % 1060));
}

/// A number, its negative, and what is left, `orders` less, in turns.
double cancelling_with(double left, int orders, std::size_t i) {
  if (i % 3 == 2) return std::ldexp(left, -orders);
  const double number = 1.0 + static_cast<double>(i / 3 % 1021) / 1024.0;
  return i % 3 == 0 ? number : -number;
}

double element_of_series(Series series, std::size_t i, std::mt19937_64& random) {
  const double u = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  const int in_tile = static_cast<int>(i % tile);
  const int tile_index = static_cast<int>(i / tile);
  switch (series) {
    case Series::uniform:
      return u;
    case Series::sixty_orders:
      return std::ldexp(u, static_cast<int>(random() % 60));
    case Series::rising_tiles:
      return std::ldexp(u, tile_index * 100 % 700 - 300);
    case Series::falling_tiles:
      return std::ldexp(u, 400 - tile_index * 100 % 700);
    case Series::rising_within_tiles:
      return std::ldexp(u, in_tile / 8 - 256);
    case Series::huge:
      return random() % 3000 == 0 ? 0x1p990 * u : u;
    case Series::alternating:
      return i % 2 == 0 ? 1.0 / 3.0 : -1.0 / 3.0;
    case Series::ties:
      return i == 0 ? 0x1p53 : in_tile % 2 == 0 ? 1.0 : 2.0;
    case Series::small_integers:
      return static_cast<double>(random() % 7) - 3.0;
    case Series::zeros:
      return i < 2 * tile ? 0.0 : static_cast<double>(i == 2 * tile);
    case Series::negative_zeros:
      return -0.0;
    case Series::cancelling:
      return i % 3 == 0 ? 1e20 : i % 3 == 1 ? -1e20 : 1e-3 * u;
    case Series::filled:
      return random() % 10 == 0 ? 1e37 : u;
    case Series::largest:
      return i % 2 == 0 ? 0x1.fffffffffffffp1023 : -0x1.8p1023;
    case Series::subnormal:
      return 0x1p-1060 * u;
    case Series::least_normal:
      return 0x1p-1023 * u;
    case Series::subnormal_in_f32:
      return 0x1p-140 * u;
    case Series::subnormal_in_f16:
      return 0x1p-18 * u;
    case Series::zeros_of_both_signs:
      return i % 3 == 0 ? 0x1p-100 : i % 3 == 1 ? -0x1p-100 : -0x1p-185;
    case Series::non_finite_at_edges:
      if (in_tile != 0 && in_tile != static_cast<int>(tile) - 1) return u;
      if (random() % 8 != 0) return u;
      return random() % 3 == 0 ? std::nan("") : random() % 2 == 0 ? infinity : -infinity;
    case Series::halves_above_a_trace:
      return halves_with(0x1p-60, i);
    case Series::halves_below_a_trace:
      return halves_with(-0x1p-60, i);
    case Series::halves_above_a_far_trace:
      return halves_with(0x1p-100, i);
    case Series::halves_that_cancel:
      if (i > 3 && i % 2 == 0) return i % 4 == 0 ? 0x1p70 : -0x1p70;
      return halves_with(0x1p-100, i < 4 ? i : i / 2);
    case Series::tails:
      return tail_of(std::abs(u), random(), tile_index % 2 == 1);
    case Series::tails_that_cancel:
      return cancelling_with(tail_of(u, random(), tile_index % 2 == 1), 24, i);
    case Series::tails_of_falling_tiles:
      return std::ldexp(cancelling_with(u, tile_index % 3 == 0 ? 240 : 20, i),
                        std::max(200 - tile_index * 30, -700));
    case Series::tails_in_places:
      return random() % (5 * tile) == 0 ? tail_of(u, random(), tile_index % 2 == 1) : u;
    case Series::wide_in_places:
      return i / 5000 % 7 == 0 ? std::ldexp(u, static_cast<int>(random() % 220) - 120) : u;
  }
  return 0.0;
}

template <class T>
std::vector<T> series_of(Series series, std::size_t size) {
  std::mt19937_64 random(size);
  std::vector<T> elements(size);
  for (std::size_t i = 0; i < size; ++i)
    elements[i] = element_of<T>(element_of_series(series, i, random));
  return elements;
}

std::vector<std::byte> bytes_of_series(ElementType type, Series series, std::size_t size,
                                       ByteOrder order = native_byte_order) {
  return visit_element_type(type, [&](auto element) {
    return bytes_of(series_of<decltype(element)>(series, size), order);
  });
}

ScanSpec float_sum(ElementType input, ElementType output, bool exclusive = false,
                   ByteOrder order = native_byte_order) {
  return {{input, order}, ScanOperation::sum, exclusive, output, OverflowPolicy::error};
}

/// Scans in one block; the arrays start `offset` elements behind an aligned address. Sets `total`,
/// if given, to the block's before.
std::vector<std::byte> scan_on_device(const std::vector<std::byte>& bytes, const ScanSpec& spec,
                                      const Accumulator& before, std::size_t offset,
                                      Accumulator* total = nullptr) {
  const std::size_t input_bytes = size_of(spec.input.type);
  const std::size_t output_bytes = size_of(spec.output);
  const std::size_t size = bytes.size() / input_bytes;
  const auto scan = make_scan_method(spec);
  const DeviceBuffer input((size + offset) * input_bytes);
  const DeviceBuffer output((size + offset) * output_bytes);
  const DeviceBuffer scratch(scan->scratch_bytes(size / tile + 1));
  const Stream stream;
  fill_bytes(scratch.data(), 0xa5, scratch.size(), stream.get());
  const kernels::BlockView block{input.data() + offset * input_bytes,
                                 output.data() + offset * output_bytes, size, spec.input,
                                 spec.output};
  copy_to_device(input.data() + offset * input_bytes, bytes.data(), bytes.size(), stream.get());
  if (total != nullptr) *total = scan->total(block, scratch.data(), stream.get());
  EXPECT_EQ(scan->scan(block, scratch.data(), before, stream.get()), std::nullopt);
  std::vector<std::byte> prefixes(size * output_bytes);
  copy_to_host(prefixes.data(), block.output, prefixes.size(), stream.get());
  stream.synchronize();
  return prefixes;
}

class CudaFloatScan : public BothBackends {
 protected:
  std::vector<std::byte> expected(const std::vector<std::byte>& bytes, const ScanSpec& spec,
                                  const Accumulator& before) {
    const std::uint64_t elements = bytes.size() / size_of(spec.input.type);
    const auto engine = cpu_->make_scan_engine(packed_plan(spec.input, 64 * tile, elements), spec);
    return scan_all(*engine, bytes, spec, 64 * tile, before).bytes;
  }

  Accumulator total_of(const std::vector<std::byte>& bytes, const ElementFormat& format) {
    return reduce_all(*cpu_, {format, {}, 64 * tile}, {true, false, false, false}, bytes);
  }
};

std::string described(const ScanSpec& spec, Series series, std::size_t size) {
  return std::string(name_of(spec.input.type)) + " to " + std::string(name_of(spec.output)) +
         ", series " + std::to_string(static_cast<int>(series)) + ", size " + std::to_string(size);
}

/// Returns whether a series (or sample) is omitted. On an emulated GPU a series is long for one of
/// `turns` outputs, in turns, and short ones have one output of the two of 16 bits, which share a
/// kernel.
template <class Kind>
bool is_left_out(std::size_t size, ElementType output, Kind kind,
                 std::size_t turns = std::size(floats)) {
  if (!is_emulated()) return false;
  const std::size_t turn = static_cast<std::size_t>(output) + static_cast<std::size_t>(kind);
  if (size <= tile) return size_of(output) == 2 && (turn + size) % 2 != 0;
  return (turn + size / (6 * tile)) % turns != 0;
}

TEST_P(CudaFloatScan, PrefixesAreThoseOfTheCpuByteForByte) {
  for (const ElementType output : floats) {
    for (const Series series : all_series) {
      for (const std::size_t size : series_sizes()) {
        if (is_left_out(size, output, series)) continue;
        const bool exclusive = size % 2 == 0;
        const ScanSpec spec = float_sum(GetParam(), output, exclusive);
        const auto bytes = bytes_of_series(GetParam(), series, size);
        const auto none = Accumulator::empty();
        EXPECT_TRUE(scan_on_device(bytes, spec, none, 0) == expected(bytes, spec, none))
            << described(spec, series, size);
      }
    }
  }
}

TEST_P(CudaFloatScan, ArraysNeedOnlyBeAlignedToTheirElements) {
  for (const ElementType output : floats) {
    for (std::size_t offset = 1; offset <= 3; ++offset) {
      const ScanSpec spec = float_sum(GetParam(), output);
      const auto bytes = bytes_of_series(GetParam(), Series::sixty_orders, 3 * tile + offset);
      const auto none = Accumulator::empty();
      EXPECT_TRUE(scan_on_device(bytes, spec, none, offset) == expected(bytes, spec, none))
          << described(spec, Series::sixty_orders, offset);
    }
  }
}

TEST_P(CudaFloatScan, WhatIsBeforeCountsWhateverItsMagnitude) {
  const double sums[] = {0x1p-1074, -0x1p-1074, 1.0, -1.0, 0x1p53, -1e300, 0x1p1023, -0x1p900};
  for (const double sum : sums) {
    Accumulator before = Accumulator::empty();
    before.sum.add(sum);
    before.sum.add(sum);
    before.sum.add(0x1p-500);
    before.sum.normalize();
    for (const Series series : {Series::uniform, Series::falling_tiles, Series::zeros}) {
      const ScanSpec spec = float_sum(GetParam(), ElementType::f64, sum > 0, ByteOrder::big);
      const auto bytes = bytes_of_series(GetParam(), series, 4 * tile + 9, ByteOrder::big);
      EXPECT_TRUE(scan_on_device(bytes, spec, before, 0) == expected(bytes, spec, before))
          << described(spec, series, 0) << " after " << sum;
    }
  }
}

TEST_P(CudaFloatScan, SpecialElementsBeforeTheBlockCount) {
  for (int kind = 0; kind < 3; ++kind) {
    Accumulator before = Accumulator::empty();
    before.nan_count = kind == 0;
    before.positive_infinities = kind == 1;
    before.negative_infinities = kind == 2;
    const ScanSpec spec = float_sum(GetParam(), GetParam());
    const auto bytes = bytes_of_series(GetParam(), Series::non_finite_at_edges, 20 * tile);
    EXPECT_TRUE(scan_on_device(bytes, spec, before, 0) == expected(bytes, spec, before));
  }
}

TEST_P(CudaFloatScan, TotalsAreExact) {
  for (const Series series : all_series) {
    for (const std::size_t size : series_sizes()) {
      if (is_left_out(size, ElementType::f64, series)) continue;
      const ScanSpec spec = float_sum(GetParam(), ElementType::f64);
      const auto bytes = bytes_of_series(GetParam(), series, size);
      Accumulator total;
      scan_on_device(bytes, spec, Accumulator::empty(), 0, &total);
      const Accumulator other = total_of(bytes, spec.input);
      EXPECT_EQ(total.count, other.count);
      EXPECT_EQ(total.nan_count, other.nan_count);
      EXPECT_EQ(total.positive_infinities, other.positive_infinities);
      EXPECT_EQ(total.negative_infinities, other.negative_infinities);
      EXPECT_TRUE(std::equal(std::begin(total.sum.limb), std::end(total.sum.limb),
                             std::begin(other.sum.limb)))
          << described(spec, series, size);
    }
  }
}

TEST_P(CudaFloatScan, AllPatternsOfBitsAreScanned) {
  for (const Sample kind : all_samples) {
    for (const ElementType output : floats) {
      const std::size_t size = series_sizes().back();
      if (is_left_out(size, output, kind)) continue;
      const ScanSpec spec = float_sum(GetParam(), output, output == ElementType::f32);
      const auto bytes = visit_element_type(GetParam(), [&](auto element) {
        return bytes_of(sample<decltype(element)>(kind, size, 17));
      });
      const auto none = Accumulator::empty();
      EXPECT_TRUE(scan_on_device(bytes, spec, none, 0) == expected(bytes, spec, none))
          << described(spec, Series::uniform, static_cast<std::size_t>(kind));
    }
  }
}

/// Warps of a block are several tiles apart, and read one another's sums.
TEST_P(CudaFloatScan, TilesOfManyRoundsAreScanned) {
  const auto size = static_cast<std::size_t>(20 * multiprocessors()) * tile;
  const ScanSpec spec = float_sum(GetParam(), GetParam());
  for (const Series series :
       {Series::wide_in_places, Series::least_normal, Series::halves_above_a_trace,
        Series::halves_below_a_trace, Series::halves_above_a_far_trace, Series::halves_that_cancel,
        Series::tails, Series::tails_that_cancel, Series::tails_of_falling_tiles,
        Series::tails_in_places}) {
    if (is_left_out(size, GetParam(), series, 2)) continue;
    const auto bytes = bytes_of_series(GetParam(), series, size);
    const auto none = Accumulator::empty();
    EXPECT_TRUE(scan_on_device(bytes, spec, none, 0) == expected(bytes, spec, none))
        << described(spec, series, size);
  }
}

class CudaLongFloatScan : public CudaFloatScan {};

TEST_P(CudaLongFloatScan, ManyTilesShareAGroup) {
  const ScanSpec spec = float_sum(GetParam(), GetParam());
  const auto bytes = bytes_of_series(GetParam(), Series::uniform, (std::size_t{1} << 27) + 3);
  const auto none = Accumulator::empty();
  EXPECT_TRUE(scan_on_device(bytes, spec, none, 0) == expected(bytes, spec, none));
}

INSTANTIATE_TEST_SUITE_P(Floats, CudaFloatScan, ::testing::ValuesIn(floats),
                         [](const auto& type) { return std::string(name_of(type.param)); });

INSTANTIATE_TEST_SUITE_P(Floats, CudaLongFloatScan,
                         ::testing::Values(ElementType::f32, ElementType::f64),
                         [](const auto& type) { return std::string(name_of(type.param)); });

}  // namespace
}  // namespace warpfold::cuda
