#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "core/engine/backend.hpp"
#include "core/layout/partition.hpp"
#include "core/scan/exact_prefixes.hpp"
#include "core/scan/scan_arithmetic.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/engines/elements.hpp"
#include "cpu/kernels/kernel_cases.hpp"

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
      const Ticket ticket = engine->take(0, block, {at, size});
      put_elements(std::vector<T>(begin, begin + static_cast<std::ptrdiff_t>(size)),
                   spec.input.order, ticket.memory.data());
      engine->submit(ticket, staged_run({}, {at, size}));
    }
    Accumulator total = engine->total(block, 0, n);
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

class EveryScan : public EveryTypeByKernels {
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
              expected = {warpfold::testing::exact_prefixes<Out>(elements, exclusive), {}};
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

INSTANTIATE_TEST_SUITE_P(Cpu, EveryScan, every_type_by_kernels(), type_and_kernels);

/// Series whose prefixes cancel, tie or span what no few doubles hold.
std::vector<std::vector<double>> hostile_series() {
  constexpr std::size_t size = 3 * tile + 100;
  std::mt19937_64 random(3);
  const auto series = [&](auto element) {
    std::vector<double> elements(size);
    for (std::size_t i = 0; i < size; ++i) elements[i] = element(i);
    return elements;
  };
  const auto unit = [&] { return std::uniform_real_distribution<double>(-1.0, 1.0)(random); };
  return {
      series([&](std::size_t i) { return i % 3 == 0   ? 1e20
                                         : i % 3 == 1 ? -1e20
                                                      : 1e-3 * unit(); }),
      series([&](std::size_t) { return random() % 10 == 0 ? 1e37 : unit(); }),
      series([&](std::size_t i) { return std::ldexp(unit(), static_cast<int>(i / 80)); }),
      series([&](std::size_t) { return 0x1p-1074 * static_cast<double>(random() % 1000); }),
      series([&](std::size_t i) { return i % 2 == 0 ? 0x1.fffffffffffffp1023 : -0x1.8p1023; }),
      series([&](std::size_t i) { return i == 0       ? 0x1p53
                                         : i % 2 == 0 ? 1.0
                                                      : 2.0; }),
      series([&](std::size_t i) { return i == 0 ? 0x1p300 : 0x1p247; }),
      series([&](std::size_t i) { return i == 0 ? 0x1p24 : 0x1p-40 * static_cast<double>(i % 2); }),
      series([&](std::size_t i) { return i % 2 == 0 ? 1.0 / 3.0 : -1.0 / 3.0; }),
      series([&](std::size_t) { return static_cast<double>(random() % 4096) - 1000.0; }),
      series([&](std::size_t) { return std::ldexp(unit(), static_cast<int>(random() % 60)); }),
  };
}

class HostileScan : public ::testing::TestWithParam<const Kernels*> {};

TEST_P(HostileScan, RoundsEveryPrefixOnce) {
  const auto backend = make_backend(2, *GetParam());
  for (const std::vector<double>& elements : hostile_series()) {
    for (const ElementType output : {ElementType::f64, ElementType::f32, ElementType::bf16}) {
      visit_element_type(output, [&](auto out) {
        using Out = decltype(out);
        if constexpr (is_floating_element<Out>) {
          const ScanSpec spec{{ElementType::f64}, ScanOperation::sum, false, output};
          const Scanned<Out> expected{warpfold::testing::exact_prefixes<Out>(elements, false), {}};
          EXPECT_TRUE((engine_scan<double, Out>(*backend, elements, spec, 5000, 1) == expected))
              << name_of(output) << " from " << elements[0] << ", " << elements[1];
        }
      });
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cpu, HostileScan, ::testing::ValuesIn(available_kernels()),
                         [](const auto& tested) { return kernels_name(tested.param); });

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
      put_elements(elements, native_byte_order, engine->take(0, block, {0, 30000}).memory.data());
      engine->total(block, 0, 30000);
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
  put_elements(elements, native_byte_order, engine->take(0, 0, {0, 3}).memory.data());
  engine->total(0, 0, 3);
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
