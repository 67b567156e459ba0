#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cpu/engines/backend.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/compressed_slabs.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"
#include "cuda/support/sample_decodings.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// An emulated GPU's memory is the host's.
constexpr std::uint64_t quantile_memory = std::uint64_t{256} << 20;

const std::vector<double> some_fractions{0.5, 0, 0.25, 0.999, 1};

QuantileEngineSpec quantile_spec(QuantileMethod method, ElementType out, NanPolicy nan,
                                 std::uint64_t elements, std::uint64_t outputs, int tables = 1) {
  return {{{some_fractions, method, nan}, Value{-5.0}, out}, elements, outputs, tables};
}

/// The values of the columns of a table, those that count.
template <class T>
using Columns = std::vector<std::vector<T>>;

/// Returns the quantile as numpy.quantile() has it of doubles, of values in their order. NaN of
/// values of which one is NaN.
template <class T>
double interpolated(const std::vector<T>& sorted, double fraction) {
  const double place = static_cast<double>(sorted.size() - 1) * fraction;
  const auto lower = static_cast<std::size_t>(place);
  const double weight = place - std::floor(place);
  const auto a = plain(sorted[lower]);
  if (weight == 0) return static_cast<double>(a);
  const auto b = plain(sorted[lower + 1]);
  if (a == b) return static_cast<double>(a);
  const auto width = static_cast<double>(b - a);
  const auto from = static_cast<double>(a);
  const auto to = static_cast<double>(b);
  if (!std::isfinite(width)) return from * (1 - weight) + to * weight;
  return weight < 0.5 ? from + width * weight : to - width * (1 - weight);
}

/// Returns what the engine is to write: of each fraction, those of all columns.
template <class T, class Out>
std::vector<Out> expected_quantiles(const Columns<T>& columns, const QuantileSpec& spec) {
  std::vector<Out> expected;
  for (const double fraction : spec.fractions) {
    for (std::vector<T> column : columns) {
      const auto nan = std::ranges::count_if(column, is_nan_element<T>);
      std::erase_if(column, is_nan_element<T>);
      std::ranges::sort(column, {}, [](T value) { return plain(value); });
      if (nan > 0 && spec.nan == NanPolicy::propagate)
        expected.push_back(element_of<Out>(quiet_nan));
      else if (column.empty())
        expected.push_back(std::is_integral_v<Out> ? Out{} : element_of<Out>(-5.0));
      else if (spec.method == QuantileMethod::linear)
        expected.push_back(element_of<Out>(interpolated(column, fraction)));
      else if constexpr (std::is_same_v<T, Out>)
        expected.push_back(
            column[static_cast<std::size_t>(static_cast<double>(column.size() - 1) * fraction)]);
    }
  }
  return expected;
}

/// Returns whether they are equal, both zeros and all NaN alike.
template <class Out>
bool are_equal(Out a, Out b) {
  return plain(a) == plain(b) || (is_nan_element(a) && is_nan_element(b));
}

template <class Out>
std::vector<Out> found_quantiles(QuantileEngine& engine, std::uint64_t table,
                                 std::uint64_t columns) {
  const std::size_t fractions = some_fractions.size();
  std::vector<Out> all(fractions * columns);
  const std::uint64_t half = columns / 2;
  for (const ElementRange range : {ElementRange{0, half}, ElementRange{half, columns - half}}) {
    std::vector<Out> part(fractions * range.count);
    engine.find(0, table, range, reinterpret_cast<std::byte*>(part.data()));
    for (std::size_t f = 0; f < fractions; ++f)
      for (std::uint64_t i = 0; i < range.count; ++i)
        all[f * columns + range.first + i] = part[f * range.count + i];
  }
  return all;
}

template <class T, class Out>
void expect_quantiles(QuantileEngine& engine, std::uint64_t table, const Columns<T>& columns,
                      const QuantileSpec& spec, const std::string& what) {
  const std::vector<Out> found = found_quantiles<Out>(engine, table, columns.size());
  const std::vector<Out> expected = expected_quantiles<T, Out>(columns, spec);
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_TRUE(are_equal(found[i], expected[i]))
        << what << ", quantile " << spec.fractions[i / columns.size()] << " of column "
        << i % columns.size();
}

/// Adds a matrix's elements to its columns: those of index i in its slab that `value_of(i)` has.
template <class T, class Elements>
void add_rows(Columns<T>& columns, const SlabLayout& layout, const Elements& elements) {
  for (std::size_t i = 0; i < elements.size(); ++i) {
    std::uint64_t place = 0;
    std::uint64_t rest = i;
    for (std::size_t d = layout.shape.size(); d-- > 0; rest /= layout.shape[d])
      place += rest % layout.shape[d] * layout.stride[d];
    columns[place % columns.size()].push_back(elements[i]);
  }
}

class CudaQuantileEngine : public ::testing::TestWithParam<ElementType> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
    gpu_ = make_backend_with(quantile_memory);
  }

  std::unique_ptr<Backend> gpu_;
  std::mt19937_64 random_{7};
};

/// Rows and columns.
const std::vector<std::pair<std::uint64_t, std::uint64_t>> matrices{
    {1, 5}, {2, 70}, {129, 1}, {300, 12}};

/// Rows in slabs of all kinds; the last axis may be the one along which quantiles are found.
TEST_P(CudaQuantileEngine, MatricesOfAllShapesAndByteOrders) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const auto& [rows, count] : matrices) {
      for (const QuantileMethod method : {QuantileMethod::lower, QuantileMethod::linear}) {
        const bool elements_alone = method == QuantileMethod::lower;
        const ByteOrder order = elements_alone ? ByteOrder::big : ByteOrder::little;
        const NanPolicy nan = rows == 129 ? NanPolicy::skip : NanPolicy::propagate;
        const QuantileEngineSpec spec = quantile_spec(
            method, elements_alone ? GetParam() : ElementType::f64, nan, 3 * rows * count, count);
        const auto engine = gpu_->make_quantile_engine(slab_plan({GetParam(), order}), spec);
        Columns<T> columns(count);
        for (int slab = 0; slab < 3; ++slab) {
          auto elements = sample<T>(slab == 1 && rows != 2 ? Sample::non_finite : Sample::wide,
                                    rows * count, random_());
          const SlabLayout layout =
              slab == 0 ? row_major({rows, count}) : SlabLayout{{count, rows}, {1, count}};
          const SampleSlab staged = chunked_slab(layout, elements, order, random_);
          engine->fill(0, 0, count);
          staged.submit(*engine);
          add_rows(columns, layout, elements);
        }
        engine->search(0);
        const std::string what = std::to_string(rows) + " x " + std::to_string(count);
        if (elements_alone)
          expect_quantiles<T, T>(*engine, 0, columns, spec.quantiles.quantiles, what);
        else
          expect_quantiles<T, double>(*engine, 0, columns, spec.quantiles.quantiles, what);
        if (HasFatalFailure()) return;
      }
    }
  });
}

TEST_P(CudaQuantileEngine, WhatIsLeftOutDoesNotCount) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const SlabLayout layout = row_major({90, 11});
    for (const SampleDecoding<T>& decoding : filters<T>()) {
      StagingPlan plan = slab_plan({GetParam()});
      plan.decoding = decoding.decoding;
      const QuantileEngineSpec spec =
          quantile_spec(QuantileMethod::linear, ElementType::f64, NanPolicy::propagate, 990, 11);
      const auto engine = gpu_->make_quantile_engine(plan, spec);
      const auto elements = sample<T>(Sample::uniform, 990, random_());
      engine->fill(0, 0, 11);
      whole_slab(layout, elements).submit(*engine);
      engine->search(0);
      Columns<T> columns(11);
      const Kept<T> kept = kept_of(decoding, elements);
      for (std::size_t i = 0; i < kept.values.size(); ++i)
        columns[kept.indices[i] % 11].push_back(kept.values[i]);
      expect_quantiles<T, double>(*engine, 0, columns, spec.quantiles.quantiles, decoding.name);
      if (HasFatalFailure()) return;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaQuantileEngine, ::testing::ValuesIn(all_element_types),
                         type_name);

class CudaQuantilePlans : public GpuTest {};

TEST_F(CudaQuantilePlans, MaskedAndPackedElements) {
  const std::vector<std::uint64_t> words{0x5a5af00ff3c3aaaaull, 0x123456789abcdef0ull};
  const auto packed = unpacking<std::int16_t, float>();
  StagingPlan plan = slab_plan({ElementType::i16});
  plan.decoding = packed.decoding;
  plan.decoding.mask = {words.data(), 100};
  const QuantileEngineSpec spec =
      quantile_spec(QuantileMethod::lower, ElementType::f32, NanPolicy::propagate, 2000, 40);
  const auto gpu = make_backend_with(quantile_memory);  // has the mask
  const auto engine = gpu->make_quantile_engine(plan, spec);
  const auto elements = sample<std::int16_t>(Sample::uniform, 2000, 9);
  engine->fill(0, 0, 40);
  whole_slab(row_major({50, 40}), elements).submit(*engine, 0, {.first = 777});
  engine->search(0);
  Columns<float> columns(40);
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t bit = (777 + i) % 100;
    if (packed.selects(elements[i]) && (words[bit / 64] >> bit % 64 & 1) != 0)
      columns[i % 40].push_back(packed.value(elements[i]));
  }
  expect_quantiles<float, float>(*engine, 0, columns, spec.quantiles.quantiles, "packed");
}

/// Threads fill a table while outputs of the one before are found.
TEST_F(CudaQuantilePlans, TablesTakeTurns) {
  constexpr int threads = 3;
  constexpr std::uint64_t most_columns = 60;
  const QuantileEngineSpec spec =
      quantile_spec(QuantileMethod::linear, ElementType::f64, NanPolicy::propagate,
                    threads * 40 * most_columns, most_columns, 2);
  const auto engine = make_backend_with(quantile_memory)
                          ->make_quantile_engine(slab_plan({ElementType::f32}, threads), spec);
  ASSERT_EQ(engine->threads(), threads);
  std::vector<Columns<float>> tables;
  for (std::uint64_t table = 0; table < 5; ++table) {
    const std::uint64_t count = most_columns - table;
    Columns<float>& columns = tables.emplace_back(count);
    std::vector<std::vector<float>> elements;
    for (unsigned thread = 0; thread < threads; ++thread)
      elements.push_back(sample<float>(Sample::wide, 40 * count, table * threads + thread));
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread)
      workers.emplace_back([&, thread] {
        const auto& mine = elements[static_cast<std::size_t>(thread)];
        const auto half = mine.begin() + static_cast<std::ptrdiff_t>(25 * count);
        engine->fill(thread, table, count);
        whole_slab(row_major({25, count}), std::vector<float>(mine.begin(), half))
            .submit(*engine, thread);
        whole_slab(row_major({15, count}), std::vector<float>(half, mine.end()))
            .submit(*engine, thread);
      });
    for (std::thread& worker : workers) worker.join();
    for (const auto& mine : elements) add_rows(columns, row_major({40, count}), mine);
    engine->search(table);
    if (table > 0)
      expect_quantiles<float, double>(*engine, table - 1, tables[table - 1],
                                      spec.quantiles.quantiles, "table " + std::to_string(table));
  }
  expect_quantiles<float, double>(*engine, 4, tables[4], spec.quantiles.quantiles, "last table");
}

/// Slabs wait for decompression while their thread goes on to another table.
TEST_F(CudaQuantilePlans, CompressedSlabsKeepTheirTables) {
  const CompressedSlabs sample(6);
  StagingPlan plan = sample.plan();
  plan.compressed.chunks = 500;
  const std::uint64_t elements = 211 * 190;
  const QuantileEngineSpec spec =
      quantile_spec(QuantileMethod::linear, ElementType::f64, NanPolicy::propagate, elements, 1, 2);
  const auto engine = make_backend_with(quantile_memory)->make_quantile_engine(plan, spec);
  ASSERT_TRUE(engine->decompresses());
  std::vector<Columns<float>> tables;
  const auto expect_table = [&](std::uint64_t table) {
    engine->search(table);
    expect_quantiles<float, double>(*engine, table, tables[table], spec.quantiles.quantiles,
                                    "table " + std::to_string(table));
  };
  for (std::uint64_t table = 0; table < 4; ++table) {
    Columns<float>& columns = tables.emplace_back(1);
    for (std::uint64_t box = table; box < sample.boxes.items(); box += 2) {
      const ChunkRun run = chunks_of(sample.boxes, {box, 1});
      const ChunkTarget target = box_target(sample.grid, run);
      const BoxIndices indices = box_indices(sample.grid, run);
      engine->fill(static_cast<int>(box % 2), table, 1);
      const Ticket ticket = engine->take(static_cast<int>(box % 2));
      std::ranges::copy(sample.slabs[box].staging, ticket.memory.begin());
      engine->submit(ticket, {sample.grid, target, sample.slabs[box].chunks, {}, indices});
      for (std::uint64_t place = 0; place < target.elements; ++place) {
        float value = 0;
        std::memcpy(&value, sample.elements.data() + indices(place) * sizeof(float), sizeof(float));
        columns[0].push_back(value);
      }
    }
    if (table > 0) expect_table(table - 1);
  }
  expect_table(3);
}

TEST_F(CudaQuantilePlans, CoresFindThemWhereMemoryIsShortOrQuantilesAreMany) {
  const StagingPlan plan = slab_plan({ElementType::f64});
  QuantileEngineSpec spec = quantile_spec(QuantileMethod::linear, ElementType::f64,
                                          NanPolicy::propagate, 1 << 20, 1 << 10, 2);
  EXPECT_NE(make_backend_with(quantile_memory)->make_quantile_engine(plan, spec), nullptr);
  EXPECT_EQ(make_backend_with(16 << 20)->make_quantile_engine(plan, spec), nullptr);
  EXPECT_EQ(cpu::make_backend(1)->make_quantile_engine(plan, spec), nullptr);
  spec.quantiles.quantiles.fractions.assign(33, 0.5);
  EXPECT_EQ(make_backend_with(quantile_memory)->make_quantile_engine(plan, spec), nullptr);
}

TEST_F(CudaQuantilePlans, MoreThanATableHoldsIsRefused) {
  const QuantileEngineSpec spec =
      quantile_spec(QuantileMethod::linear, ElementType::f64, NanPolicy::propagate, 100, 10);
  const auto engine =
      make_backend_with(quantile_memory)->make_quantile_engine(slab_plan({ElementType::f64}), spec);
  EXPECT_THROW(engine->fill(0, 0, 11), Error);
  engine->fill(0, 0, 10);
  const std::vector<double> elements(110);
  EXPECT_THROW(whole_slab(row_major({11, 10}), elements).submit(*engine), Error);
}

}  // namespace
}  // namespace warpfold::cuda
