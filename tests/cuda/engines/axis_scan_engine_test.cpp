#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "core/numeric/fixed_point.hpp"
#include "core/values/ordered_key.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cuda {
namespace {

/// Sum of the elements before one of a line, added one after the other.
template <class T, bool floating = is_floating_element<T>>
class LineSums;

template <class T>
class LineSums<T, false> {
 public:
  void add(T element) { sum_ += element; }

  /// Nothing where the type can't hold it.
  template <class Out>
  std::optional<Out> prefix() const {
    if (sum_ < int128{std::numeric_limits<Out>::lowest()} ||
        sum_ > int128{std::numeric_limits<Out>::max()})
      return std::nullopt;
    return static_cast<Out>(sum_);
  }
  template <class Out>
  Out wrapped() const {
    return static_cast<Out>(sum_);
  }

 private:
  int128 sum_ = 0;
};

template <class T>
class LineSums<T, true> {
 public:
  void add(T element) {
    const double value = widened(element);
    if (std::isfinite(value)) {
      sum_.add(value);
      sum_.normalize();
    } else {
      others_ += value;
    }
  }

  template <class Out>
  std::optional<Out> prefix() const {
    if (others_ != 0.0) return element_of<Out>(others_);
    if constexpr (std::is_same_v<Out, double>) return sum_.rounded();
    return element_of<Out>(sum_.rounded(Rounding::odd));
  }
  template <class Out>
  Out wrapped() const {
    return *prefix<Out>();
  }

 private:
  ExactSum sum_{};
  double others_ = 0;  ///< infinities and NaN, as IEEE 754 adds them
};

template <class T>
class LineExtrema {
 public:
  LineExtrema(ScanOperation operation) : minimum_(operation == ScanOperation::min) {
    using Limits = std::numeric_limits<std::conditional_t<std::is_integral_v<T>, T, float>>;
    if constexpr (std::is_integral_v<T>)
      best_ = minimum_ ? Limits::max() : Limits::lowest();
    else
      best_ = element_of<T>(minimum_ ? Limits::infinity() : -Limits::infinity());
  }

  void add(T element) {
    if (is_nan(best_)) return;
    const auto value = value_of(element);
    const auto best = value_of(best_);
    if (is_nan(element) || (minimum_ ? value < best : value > best)) best_ = element;
  }

  T best() const { return best_; }

 private:
  static auto value_of(T element) {
    if constexpr (std::is_integral_v<T>)
      return element;
    else
      return widened(element);
  }
  static bool is_nan(T element) { return value_of(element) != value_of(element); }

  bool minimum_;
  T best_;
};

template <class T>
std::vector<std::byte> canonical_bytes(std::vector<T> elements) {
  if constexpr (is_floating_element<T>)
    for (T& element : elements)
      if (std::isnan(widened(element)))
        element = element_of<T>(std::numeric_limits<double>::quiet_NaN());
  return bytes_of(elements);
}

template <class T>
std::vector<T> elements_in(std::span<const std::byte> bytes) {
  std::vector<T> elements(bytes.size() / sizeof(T));
  std::memcpy(elements.data(), bytes.data(), bytes.size());
  return elements;
}

std::string slab_name(const AxisSlab& shape) {
  return std::to_string(shape.outer) + " x " + std::to_string(shape.along) + " x " +
         std::to_string(shape.inner);
}

/// Visits the places of each line in the order of the axis: visit(line, place).
template <class Visitor>
void visit_lines(const AxisSlab& shape, Visitor&& visit) {
  for (std::uint64_t line = 0; line < shape.lines(); ++line)
    for (std::uint64_t a = 0; a < shape.along; ++a)
      visit(line, (line / shape.inner * shape.along + a) * shape.inner + line % shape.inner);
}

/// Returns a thread's prefixes of one slab.
std::span<const std::byte> slab_prefixes(AxisScanEngine& engine, int thread,
                                         const SampleSlab& staged, AxisSlab shape,
                                         bool continues = false) {
  shape.turn = continues ? 1 : 0;
  const Ticket ticket = engine.take(thread, shape);
  engine.submit(ticket, staged.stage(ticket.memory));
  return *engine.scan(thread);
}

class CudaAxisScan : public BothBackends {
 protected:
  /// Scans slabs that follow one another, beside `references`, one for each line.
  template <class T, class Out, class Reference, class Prefix>
  void expect_scans(const ScanSpec& spec, const AxisSlab& shape, Sample kind,
                    std::vector<Reference> references, Prefix&& prefix_of, int slabs = 3) {
    const auto engine =
        gpu_->make_axis_scan_engine(slab_plan(spec.input), {spec, shape.lines() + 2});
    for (int slab = 0; slab < slabs; ++slab) {
      auto elements = sample<T>(kind, shape.lines() * shape.along, random_());
      const SampleSlab staged = chunked_slab(row_major({shape.outer, shape.along, shape.inner}),
                                             elements, spec.input.order, random_);
      std::vector<Out> expected(elements.size());
      std::optional<std::uint64_t> overflow;
      visit_lines(shape, [&](std::uint64_t line, std::uint64_t place) {
        Reference& reference = references[line];
        if (!spec.exclusive) reference.add(elements[place]);
        bool fits = true;
        expected[place] = prefix_of(reference, fits);
        if (!fits && place < overflow.value_or(~std::uint64_t{0})) overflow = place;
        if (spec.exclusive) reference.add(elements[place]);
      });
      const auto prefixes = slab_prefixes(*engine, 0, staged, shape, slab > 0);
      EXPECT_TRUE(canonical_bytes(elements_in<Out>(prefixes)) == canonical_bytes(expected))
          << slab_name(shape) << " slab " << slab << " sample " << static_cast<int>(kind)
          << (spec.exclusive ? " exclusive" : "");
      if (spec.overflow == OverflowPolicy::wrap) overflow.reset();
      EXPECT_EQ(engine->overflow(0), overflow) << slab_name(shape);
    }
  }

  template <class T, class Out>
  void expect_sums(const AxisSlab& shape, Sample kind, bool exclusive, OverflowPolicy policy,
                   ByteOrder order = native_byte_order, int slabs = 3) {
    const ScanSpec spec{{element_type_of<T>(), order},
                        ScanOperation::sum,
                        exclusive,
                        element_type_of<Out>(),
                        policy};
    expect_scans<T, Out>(
        spec, shape, kind, std::vector<LineSums<T>>(shape.lines()),
        [](const LineSums<T>& sums, bool& fits) {
          const std::optional<Out> prefix = sums.template prefix<Out>();
          fits = prefix.has_value();
          return prefix.value_or(sums.template wrapped<Out>());
        },
        slabs);
  }

  template <class T>
  void expect_extrema(const AxisSlab& shape, Sample kind, ScanOperation operation, bool exclusive) {
    const ScanSpec spec{{element_type_of<T>(), native_byte_order},
                        operation,
                        exclusive,
                        element_type_of<T>(),
                        OverflowPolicy::error};
    expect_scans<T, T>(spec, shape, kind,
                       std::vector<LineExtrema<T>>(shape.lines(), LineExtrema<T>(operation)),
                       [](const LineExtrema<T>& extrema, bool&) { return extrema.best(); });
  }

  /// Calls `visitor` with elements of the scanned type and of the usual output type.
  template <class Visitor>
  void visit_types(Visitor&& visitor) {
    visit_element_type(GetParam(), [&](auto element) {
      using T = decltype(element);
      if constexpr (is_floating_element<T>)
        visitor(element, element);
      else if constexpr (std::is_signed_v<T>)
        visitor(element, std::int64_t{});
      else
        visitor(element, std::uint64_t{});
    });
  }
  std::mt19937_64 random_{11};
};

const AxisSlab slab_shapes[] = {{1, 3000, 1}, {3, 1001, 1}, {1, 3, 1001}, {2, 37, 41},
                                {7, 1, 5},    {1, 1, 1},    {4, 300, 3}};

TEST_P(CudaAxisScan, SumsOfAllShapes) {
  visit_types([&]<class T, class Out>(T, Out) {
    for (const AxisSlab& shape : slab_shapes) {
      expect_sums<T, Out>(shape, Sample::uniform, false, OverflowPolicy::wrap);
      expect_sums<T, Out>(shape, Sample::uniform, true, OverflowPolicy::wrap, ByteOrder::big);
    }
  });
}

TEST_P(CudaAxisScan, SumsOfDataOfEveryKind) {
  visit_types([&]<class T, class Out>(T, Out) {
    for (const Sample kind : all_samples)
      for (const AxisSlab& shape : {AxisSlab{3, 500, 1}, AxisSlab{1, 20, 50}})
        expect_sums<T, Out>(shape, kind, kind == Sample::cancelling, OverflowPolicy::wrap);
  });
}

TEST_P(CudaAxisScan, SumsThatOverflowTellTheLeastPlace) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>)
      for (const AxisSlab& shape : slab_shapes)
        expect_sums<T, T>(shape, Sample::uniform, false, OverflowPolicy::error);
  });
}

TEST_P(CudaAxisScan, SumsOfOtherOutputTypes) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    if constexpr (is_floating_element<T>) {
      for (const Sample kind : {Sample::uniform, Sample::wide}) {
        expect_sums<T, double>({3, 400, 2}, kind, false, OverflowPolicy::error);
        expect_sums<T, float>({3, 400, 2}, kind, false, OverflowPolicy::error);
        expect_sums<T, Float16>({3, 400, 2}, kind, false, OverflowPolicy::error);
        expect_sums<T, BFloat16>({3, 400, 2}, kind, false, OverflowPolicy::error);
      }
    }
  });
}

TEST_P(CudaAxisScan, RunningExtrema) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const ScanOperation operation : {ScanOperation::min, ScanOperation::max})
      for (const AxisSlab& shape : slab_shapes)
        for (const Sample kind : {Sample::non_finite, Sample::subnormal})
          expect_extrema<T>(shape, kind, operation, shape.inner == 1);
  });
}

TEST_P(CudaAxisScan, ManyOrLongLines) {
  visit_types([&]<class T, class Out>(T, Out) {
    for (const AxisSlab& shape : {AxisSlab{1, 400000, 1}, AxisSlab{5, 30001, 1},
                                  AxisSlab{1, 2, 150001}, AxisSlab{150001, 2, 1}})
      expect_sums<T, Out>(shape, Sample::uniform, false, OverflowPolicy::wrap, native_byte_order,
                          1);
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaAxisScan, ::testing::ValuesIn(all_element_types), type_name);

class CudaAxisScanPlans : public GpuTest {};

ScanSpec sum_of_floats() {
  return {{ElementType::f32}, ScanOperation::sum, false, ElementType::f32, OverflowPolicy::error};
}

TEST_F(CudaAxisScanPlans, ThreadsShareNothingAndBeginAnew) {
  constexpr int threads = 4;
  const auto engine = make_backend({})->make_axis_scan_engine(
      slab_plan(sum_of_floats().input, threads), {sum_of_floats(), 10});
  ASSERT_EQ(engine->threads(), threads);
  std::vector<std::thread> workers;
  for (int thread = 0; thread < threads; ++thread) {
    workers.emplace_back([&, thread] {
      const auto lines = static_cast<std::uint64_t>(3 + thread);
      const AxisSlab shape{1, 200, lines};
      const std::vector<float> ones(200 * lines, static_cast<float>(1 + thread));
      for (int turn = 0; turn < 3; ++turn) {
        for (int slab = 0; slab < 2; ++slab) {
          const auto staged = whole_slab(row_major({200, lines}), ones);
          const auto prefixes =
              elements_in<float>(slab_prefixes(*engine, thread, staged, shape, slab > 0));
          EXPECT_EQ(prefixes.back(), static_cast<float>((slab + 1) * 200 * (1 + thread)));
        }
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
}

TEST_F(CudaAxisScanPlans, SumsFollowElementsOfAnySize) {
  const ScanSpec spec{
      {ElementType::f64}, ScanOperation::sum, false, ElementType::f64, OverflowPolicy::error};
  for (const std::uint64_t rows : {1u, 9u, 1200u}) {
    const auto engine =
        make_backend({})->make_axis_scan_engine(slab_plan(spec.input), {spec, hostile_kinds});
    std::vector<LineSums<double>> sums(hostile_kinds);
    for (std::uint64_t slab = 0; slab < 3; ++slab) {
      std::vector<double> elements(rows * hostile_kinds);
      std::vector<double> expected(elements.size());
      for (std::size_t i = 0; i < elements.size(); ++i) {
        LineSums<double>& sum = sums[i % hostile_kinds];
        elements[i] = hostile_element(i % hostile_kinds, slab * rows + i / hostile_kinds);
        sum.add(elements[i]);
        expected[i] = *sum.prefix<double>();
      }
      const auto staged = whole_slab(row_major({rows, hostile_kinds}), elements);
      const auto prefixes = slab_prefixes(*engine, 0, staged, {1, rows, hostile_kinds}, slab > 0);
      EXPECT_TRUE(canonical_bytes(elements_in<double>(prefixes)) == canonical_bytes(expected))
          << rows << " rows, slab " << slab;
    }
  }
}

/// Omitted elements add nothing, and are no extremum.
TEST_F(CudaAxisScanPlans, WhatIsLeftOutChangesNothing) {
  const std::vector<float> elements = {5, -1, 3, -7, 4, 6};
  const auto prefixes = [&](ScanOperation operation) {
    ScanSpec spec = sum_of_floats();
    spec.operation = operation;
    StagingPlan plan = slab_plan(spec.input);
    plan.decoding.values.minimum = ordered_key(0.0f);
    const auto engine = make_backend({})->make_axis_scan_engine(plan, {spec, 2});
    return elements_in<float>(
        slab_prefixes(*engine, 0, whole_slab(row_major({2, 3}), elements), {2, 3, 1}));
  };
  constexpr float float_infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(prefixes(ScanOperation::sum), (std::vector<float>{5, 5, 8, 0, 4, 10}));
  EXPECT_EQ(prefixes(ScanOperation::min), (std::vector<float>{5, 5, 3, float_infinity, 4, 4}));
  EXPECT_EQ(prefixes(ScanOperation::max), (std::vector<float>{5, 5, 5, -float_infinity, 4, 6}));
}

TEST_F(CudaAxisScanPlans, PackedElementsAreUnpacked) {
  ScanSpec spec = sum_of_floats();
  spec.input.type = ElementType::i16;
  StagingPlan plan = slab_plan(spec.input);
  plan.decoding.unpacking = {true, ElementType::f32, 0.5, 100.0};
  const auto engine = make_backend({})->make_axis_scan_engine(plan, {spec, 1});
  const auto staged = whole_slab(row_major({3}), std::vector<std::int16_t>{1, -2, 300});
  const auto prefixes = elements_in<float>(slab_prefixes(*engine, 0, staged, {1, 3, 1}));
  EXPECT_EQ(prefixes, (std::vector<float>{100.5f, 199.5f, 449.5f}));
}

TEST_F(CudaAxisScanPlans, ThreadsFitTheMemory) {
  const StagingPlan plan = slab_plan(sum_of_floats().input, 64);
  const AxisScanSpec spec{sum_of_floats(), 1000};
  const auto engine = make_backend_with(256 << 20)->make_axis_scan_engine(plan, spec);
  EXPECT_GE(engine->threads(), 1);
  EXPECT_LT(engine->threads(), 64);
  EXPECT_THROW(make_backend_with(1 << 20)->make_axis_scan_engine(plan, spec), Error);
}

TEST_F(CudaAxisScanPlans, SlabsThatDoNotFitTheirLinesAreRefused) {
  const auto engine = make_backend({})->make_axis_scan_engine(slab_plan(sum_of_floats().input),
                                                              {sum_of_floats(), 10});
  const auto lines_of = [](std::uint64_t lines) {
    return whole_slab(row_major({lines, 2}), std::vector<float>(2 * lines));
  };
  EXPECT_THROW(slab_prefixes(*engine, 0, lines_of(11), {11, 2, 1}), Error);
  EXPECT_THROW(slab_prefixes(*engine, 0, lines_of(10), {9, 2, 1}), Error);
  engine->submit(engine->take(0, {10, 0, 1}), StagedChunks{});
  EXPECT_TRUE(engine->scan(0)->empty());
  EXPECT_EQ(engine->overflow(0), std::nullopt);
}

}  // namespace
}  // namespace warpfold::cuda
