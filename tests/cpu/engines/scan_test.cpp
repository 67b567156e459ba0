#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>
#include <thread>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;

constexpr int tile = scan_order::tile_elements;

template <class Out>
struct Scanned {
  std::vector<Out> prefixes;
  std::optional<std::uint64_t> unfit;

  bool operator==(const Scanned& other) const {
    return unfit == other.unfit && prefixes.size() == other.prefixes.size() &&
           (prefixes.empty() || std::memcmp(prefixes.data(), other.prefixes.data(),
                                            prefixes.size() * sizeof(Out)) == 0);
  }
};

/// Plans blocks, whose pieces are as large.
BlockEnginePlan plan_of(const ScanSpec& spec, std::uint64_t elements, std::uint64_t block_elements,
                        Staging staging = Staging::packed) {
  return {{spec.input, {}, elements, 0, staging}, block_elements};
}

/// Scans the elements block by block, each read and written in pieces of `piece` tiles.
template <class T, class Out>
Scanned<Out> engine_scan(Backend& backend, const std::vector<T>& elements, const ScanSpec& spec,
                         std::uint64_t slab, std::uint64_t piece) {
  const Staging staging = piece % 2 == 0 ? Staging::packed : Staging::run;
  const auto engine =
      backend.make_scan_engine(plan_of(spec, std::max(slab, piece * tile),
                                       std::min<std::uint64_t>(slab, elements.size()), staging),
                               spec);
  Scanned<Out> result{std::vector<Out>(elements.size()), std::nullopt};
  Accumulator carry = Accumulator::empty();
  for (std::uint64_t first = 0, turn = 0; first < elements.size(); ++turn) {
    const int block = static_cast<int>(turn) % engine->blocks();
    const auto n = std::min(engine->block_elements(), elements.size() - first);
    for (std::uint64_t at = 0; at < n; at += piece * tile) {
      const std::uint64_t size = std::min(piece * tile, n - at);
      const auto begin = elements.begin() + static_cast<std::ptrdiff_t>(first + at);
      put_elements(std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(size)),
                   spec.input.order, engine->buffer(0, block, {at, size}).data());
      engine->load(0, block, staged_run({}, {at, size}));
    }
    Accumulator total = engine->total(block, n);
    const auto unfit = engine->scan(block, first, n, carry);
    if (unfit && !result.unfit) result.unfit = unfit;
    for (std::uint64_t at = 0; at < n; at += piece * tile) {
      const auto out = engine->output(0, block, at, std::min(piece * tile, n - at));
      std::memcpy(result.prefixes.data() + first + at, out.data(), out.size());
    }
    for (Extremum* extremum : {&total.minimum, &total.maximum})
      if (extremum->seen()) extremum->index += first;
    carry.merge(total);
    carry.normalize();
    first += n;
  }
  return result;
}

/// The order of additions as scan_arithmetic.hpp words it, one element after the other.
template <class Inner>
class ReferenceTile {
 public:
  ReferenceTile(const double (&x)[tile], DoublePair base, bool exclusive) {
    using namespace scan_order;
    const Inner zero = inner_zero(Inner{});
    Inner segments = zero;
    for (int segment = 0; segment < tile_segments; ++segment) {
      Inner rows = zero;
      for (int row = 0; row < tile_rows; ++row) {
        const int first = (segment * tile_rows + row) * row_elements;
        Inner t[tile_lanes][lane_elements];
        Inner inclusive[tile_lanes];
        for (int lane = 0; lane < tile_lanes; ++lane) {
          inner_set(t[lane][0], x[first + lane * lane_elements]);
          for (int k = 1; k < lane_elements; ++k)
            t[lane][k] = inner_add(t[lane][k - 1], x[first + lane * lane_elements + k]);
          inclusive[lane] = t[lane][lane_elements - 1];
        }
        for (int d = 1; d <= 16; d *= 2)
          for (int lane = tile_lanes - 1; lane >= d; --lane)
            inclusive[lane] = inner_add(inclusive[lane - d], inclusive[lane]);
        for (int lane = 0; lane < tile_lanes; ++lane) {
          const auto from = lane_base(base, segments, rows, lane == 0 ? zero : inclusive[lane - 1]);
          for (int k = 0; k < lane_elements; ++k) {
            const Inner before = k == 0 ? zero : t[lane][k - 1];
            prefix[first + lane * lane_elements + k] =
                rounded_prefix(from, exclusive ? before : t[lane][k]);
          }
        }
        rows = inner_add(rows, inclusive[tile_lanes - 1]);
      }
      segments = inner_add(segments, rows);
    }
  }

  double prefix[tile];
};

template <class Out, class T>
Scanned<Out> reference_sum_of_floats(const std::vector<T>& elements, bool exclusive, bool pairs) {
  Scanned<Out> result{std::vector<Out>(elements.size()), std::nullopt};
  Accumulator running = Accumulator::empty();
  for (std::size_t first = 0; first < elements.size(); first += tile) {
    const int n = static_cast<int>(std::min<std::size_t>(tile, elements.size() - first));
    const auto seen_before = [](std::int64_t count) { return count != 0 ? -1 : tile; };
    scan_order::TileSpecials specials{seen_before(running.nan_count),
                                      seen_before(running.positive_infinities),
                                      seen_before(running.negative_infinities)};
    double x[tile] = {};
    bool huge = std::abs(running.sum.rounded()) >= scan_order::huge;
    const ExactSum before = running.sum;
    for (int i = 0; i < n; ++i) {
      const double value = widened(elements[first + static_cast<std::size_t>(i)]);
      if (std::isnan(value)) {
        specials.nan = std::min(specials.nan, i);
        ++running.nan_count;
      } else if (value == std::numeric_limits<double>::infinity()) {
        specials.positive_infinity = std::min(specials.positive_infinity, i);
        ++running.positive_infinities;
      } else if (std::isinf(value)) {
        specials.negative_infinity = std::min(specials.negative_infinity, i);
        ++running.negative_infinities;
      } else {
        x[i] = value;
        huge = huge || std::abs(value) >= scan_order::huge;
        running.sum.add(value);
      }
    }
    running.sum.normalize();
    const auto scale = scan_order::tile_scale(huge);
    for (double& value : x) value *= scale.down;
    const DoublePair base = before.rounded_pair(scale.exponent);
    double prefixes[tile];
    if (pairs)
      std::copy_n(ReferenceTile<DoublePair>(x, base, exclusive).prefix, tile, prefixes);
    else
      std::copy_n(ReferenceTile<double>(x, base, exclusive).prefix, tile, prefixes);
    for (int i = 0; i < n; ++i)
      result.prefixes[first + static_cast<std::size_t>(i)] = output_element<Out>(
          scan_order::with_specials(prefixes[i] * scale.up, specials, exclusive ? i : i + 1));
  }
  return result;
}

template <class Out, class T>
Scanned<Out> reference_sum_of_integers(const std::vector<T>& elements, const ScanSpec& spec) {
  Scanned<Out> result{{}, std::nullopt};
  int128 running = 0;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const int128 after = running + elements[i];
    const int128 stored = spec.exclusive ? running : after;
    running = after;
    const bool checked = spec.overflow == OverflowPolicy::error;
    if (checked && !result.unfit && !can_hold<Out>(stored)) result.unfit = i;
    result.prefixes.push_back(output_element<Out>(stored));
  }
  return result;
}

template <class T>
T first_extremum(bool minimum) {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::is_integral_v<T>)
    return minimum ? Limits::max() : Limits::lowest();
  else
    return from_double<T>(minimum ? HUGE_VAL : -HUGE_VAL);
}

template <class T>
Scanned<T> reference_extrema(const std::vector<T>& elements, const ScanSpec& spec) {
  const bool minimum = spec.operation == ScanOperation::min;
  Scanned<T> result{{}, std::nullopt};
  T running = first_extremum<T>(minimum);
  bool nan = false;
  for (const T element : elements) {
    if (spec.exclusive) result.prefixes.push_back(running);
    const auto key = [minimum](T x) { return minimum ? ordered_key(x) : ~ordered_key(x); };
    if (!nan && std::isnan(widened(element))) {
      nan = true;
      if constexpr (is_floating_element<T>) running = from_double<T>(std::nan(""));
    } else if (!nan && key(element) < key(running)) {
      running = element;
    }
    if (!spec.exclusive) result.prefixes.push_back(running);
  }
  return result;
}

std::string plain_name(const Kernels* kernels) {
  std::string name = kernels->name;
  std::erase(name, '-');
  return name;
}

class EveryScan : public ::testing::TestWithParam<std::tuple<ElementType, const Kernels*>> {
 protected:
  ElementType type() const { return std::get<0>(GetParam()); }
  const Kernels& kernels() const { return *std::get<1>(GetParam()); }
};

constexpr std::size_t sizes[] = {0, 1, 31, 33, 127, 4095, 4096, 4097, 3 * 4096 + 5, 50003};

TEST_P(EveryScan, SumsEqualTheReference) {
  const auto backend = make_backend(2, kernels());
  visit_element_type(type(), [&](auto in) {
    using T = decltype(in);
    for (const ElementType output : all_element_types) {
      if (is_floating(type()) && is_integer(output)) continue;
      visit_element_type(output, [&](auto out) {
        using Out = decltype(out);
        for (const Kind kind : all_kinds) {
          const std::size_t size =
              sizes[(static_cast<std::size_t>(output) * 7 + static_cast<std::size_t>(kind) * 3) %
                    std::size(sizes)];
          const auto elements = make_elements<T>(kind, size, size);
          for (const bool exclusive : {false, true}) {
            ScanSpec spec{{type(), ByteOrder::little}, ScanOperation::sum, exclusive, output};
            if (exclusive) spec.input.order = ByteOrder::big;
            Scanned<Out> expected;
            if constexpr (std::is_integral_v<T>)
              expected = reference_sum_of_integers<Out>(elements, spec);
            else if constexpr (is_floating_element<Out>)
              expected = reference_sum_of_floats<Out>(elements, exclusive,
                                                      scan_order::sums_in_pairs(type(), output));
            const auto actual = engine_scan<T, Out>(*backend, elements, spec, size + 1, 2);
            EXPECT_TRUE(actual == expected)
                << name_of(output) << ", kind " << static_cast<int>(kind) << ", " << size;
          }
        }
      });
    }
  });
}

TEST_P(EveryScan, SumsDoNotDependOnBlocksPiecesOrThreads) {
  visit_element_type(type(), [&](auto in) {
    using T = decltype(in);
    for (const Kind kind : {Kind::wide, Kind::sprinkled}) {
      const auto elements = make_elements<T>(kind, 100003);
      const ScanSpec spec{{type()}, ScanOperation::sum, false, type(), OverflowPolicy::wrap};
      const auto one = make_backend(1, kernels());
      const auto expected = engine_scan<T, T>(*one, elements, spec, 100003, 100);
      for (const int threads : {1, 2, 5}) {
        const auto backend = make_backend(threads, kernels());
        for (const std::uint64_t slab : {1u, 3u * 4096, 8u * 4096})
          EXPECT_TRUE((engine_scan<T, T>(*backend, elements, spec, slab, 3) == expected));
      }
    }
  });
}

TEST_P(EveryScan, ExtremaEqualTheReference) {
  const auto backend = make_backend(2, kernels());
  visit_element_type(type(), [&](auto in) {
    using T = decltype(in);
    for (const Kind kind : all_kinds) {
      for (const std::size_t size : sizes) {
        const auto elements = make_elements<T>(kind, size, size + 1);
        for (const auto operation : {ScanOperation::min, ScanOperation::max}) {
          for (const bool exclusive : {false, true}) {
            const ScanSpec spec{{type(), ByteOrder::big}, operation, exclusive, type()};
            const auto expected = reference_extrema<T>(elements, spec);
            for (const std::uint64_t slab : {4096u, 5u * 4096})
              EXPECT_TRUE((engine_scan<T, T>(*backend, elements, spec, slab, 1) == expected));
          }
        }
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryScan,
                         ::testing::Combine(::testing::ValuesIn(all_element_types),
                                            ::testing::ValuesIn(available_kernels())),
                         [](const auto& tested) {
                           return std::string(name_of(std::get<0>(tested.param))) +
                                  plain_name(std::get<1>(tested.param));
                         });

/// Units in the last place between two doubles of a sign, or across zero.
std::uint64_t ulps_between(double a, double b) {
  const std::uint64_t key_a = ordered_key(a);
  const std::uint64_t key_b = ordered_key(b);
  return key_a > key_b ? key_a - key_b : key_b - key_a;
}

TEST(ScanEngine, StaysWithinOneUlpOfTheTrueSumOfARandomWalk) {
  const auto backend = make_backend(2);
  std::vector<double> steps = make_elements<double>(Kind::uniform, 300000);
  const ScanSpec spec{{ElementType::f64}, ScanOperation::sum, false, ElementType::f64};
  const auto scanned = engine_scan<double, double>(*backend, steps, spec, 65536, 4);
  ExactSum truth{};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    truth.add(steps[i]);
    ASSERT_LE(ulps_between(scanned.prefixes[i], truth.rounded()), 1u) << i;
  }
}

TEST(ScanEngine, NamesTheFirstOverflow) {
  const auto backend = make_backend(2);
  std::vector<std::int8_t> elements(40000, 1);
  ScanSpec spec{{ElementType::i8}, ScanOperation::sum, false, ElementType::i16};
  EXPECT_EQ((engine_scan<std::int8_t, std::int16_t>(*backend, elements, spec, 8192, 1).unfit),
            32767u);
  spec.exclusive = true;
  EXPECT_EQ((engine_scan<std::int8_t, std::int16_t>(*backend, elements, spec, 8192, 1).unfit),
            32768u);
  spec.overflow = OverflowPolicy::wrap;
  const auto wrapped = engine_scan<std::int8_t, std::int16_t>(*backend, elements, spec, 8192, 1);
  EXPECT_EQ(wrapped.unfit, std::nullopt);
  EXPECT_EQ(wrapped.prefixes[32768], -32768);
}

TEST(ScanEngine, ScansBlocksFromSeveralThreadsAtOnce) {
  const auto backend = make_backend(2);
  const ScanSpec spec{{ElementType::f32}, ScanOperation::sum, false, ElementType::f32};
  const auto elements = make_elements<float>(Kind::wide, 30000);
  const auto expected = engine_scan<float, float>(*backend, elements, spec, 30000, 1);
  const auto engine = backend->make_scan_engine(plan_of(spec, 30000, 30000), spec);
  std::vector<std::jthread> callers;
  for (int block = 0; block < engine->blocks(); ++block)
    callers.emplace_back([&, block] {
      put_elements(elements, native_byte_order, engine->buffer(0, block, {0, 30000}).data());
      engine->total(block, 30000);
      engine->scan(block, 0, 30000, Accumulator::empty());
    });
  callers.clear();
  for (int block = 0; block < engine->blocks(); ++block)
    EXPECT_EQ(std::memcmp(engine->output(0, block, 0, 30000).data(), expected.prefixes.data(),
                          30000 * sizeof(float)),
              0);
}

TEST(ScanEngine, CarriesExtremaIn) {
  const auto backend = make_backend(2);
  const ScanSpec spec{{ElementType::f64}, ScanOperation::min, true, ElementType::f64};
  const auto engine = backend->make_scan_engine(plan_of(spec, 3, 3), spec);
  const std::vector<double> elements{0.0, -1.0, 5.0};
  put_elements(elements, native_byte_order, engine->buffer(0, 0, {0, 3}).data());
  engine->total(0, 3);
  Accumulator before = Accumulator::empty();
  before.minimum = {ordered_key(-0.0), 7, value_bits(-0.0)};
  engine->scan(0, 9, 3, before);
  const auto* out = reinterpret_cast<const double*>(engine->output(0, 0, 0, 3).data());
  EXPECT_EQ(std::bit_cast<std::uint64_t>(out[0]), std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(std::bit_cast<std::uint64_t>(out[1]), std::bit_cast<std::uint64_t>(-0.0));
  EXPECT_EQ(out[2], -1.0);
  before.nan_count = 1;
  engine->scan(0, 9, 3, before);
  EXPECT_TRUE(std::isnan(out[0]));
}

}  // namespace
}  // namespace warpfold::cpu
