#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "core/results/axis_totals.hpp"
#include "core/results/reducing.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

/// A matrix as a dataset may hold it: row-major, or, where its last axis is the reduced one, column
/// by column.
struct MatrixLayout {
  std::uint64_t rows;
  std::uint64_t columns;
  bool transposed = false;

  std::uint64_t elements() const { return rows * columns; }
  std::uint64_t index(std::uint64_t row, std::uint64_t column) const {
    return transposed ? column * rows + row : row * columns + column;
  }
  SlabLayout slab() const {
    if (transposed) return {{columns, rows}, {1, columns}};
    return {{rows, columns}, {columns, 1}};
  }
};

template <class T>
std::vector<Accumulator> reduced_columns(const std::vector<T>& elements, const MatrixLayout& layout,
                                         std::uint64_t first_row = 0) {
  std::vector<Accumulator> columns(layout.columns, Accumulator::empty());
  for (std::uint64_t row = 0; row < layout.rows; ++row)
    for (std::uint64_t column = 0; column < layout.columns; ++column)
      testing::reduce(columns[column], elements[layout.index(row, column)], first_row + row);
  for (Accumulator& column : columns) column.normalize();
  return columns;
}

Accumulator needed(const Accumulator& all, const ReduceNeeds& needs) {
  Accumulator some = all;
  const Accumulator none = Accumulator::empty();
  if (!needs.sum) some.sum = none.sum;
  if (!needs.absolute) some.absolute = none.absolute;
  if (!needs.squares) some.squares = none.squares;
  if (!needs.extrema) {
    some.minimum = none.minimum;
    some.maximum = none.maximum;
  }
  return some;
}

void expect_columns(const AxisTotals& totals, const std::vector<Accumulator>& expected,
                    const ReduceNeeds& needs, const std::string& what) {
  ASSERT_EQ(totals.outputs(), expected.size());
  for (std::uint64_t output = 0; output < expected.size(); ++output) {
    expect_equal(totals.accumulator(output), needed(expected[output], needs),
                 what + ", output " + std::to_string(output));
    if (::testing::Test::HasFailure()) return;
  }
}

std::string matrix_name(const MatrixLayout& layout) {
  return std::to_string(layout.rows) + " x " + std::to_string(layout.columns) +
         (layout.transposed ? " transposed" : "");
}

class CudaAxisReduce : public BothBackends {
 protected:
  /// Reduces random matrices of that many columns slab by slab, beside one element after the other.
  template <class T>
  void expect_reduces(MatrixLayout layout, Sample kind, ReduceNeeds needs, ByteOrder order) {
    const ElementFormat format{element_type_of<T>(), order};
    const auto engine =
        gpu_->make_axis_reduce_engine(slab_plan(format), {needs, layout.columns + 3});
    engine->begin(0, layout.columns);
    std::vector<Accumulator> expected(layout.columns, Accumulator::empty());
    std::uint64_t first_row = 0;
    for (int slab = 0; slab < 3; ++slab) {
      auto elements = sample<T>(kind, layout.elements(), random_());
      const SampleSlab staged = chunked_slab(layout.slab(), elements, order, random_);
      staged.submit(*engine, 0, {.first = first_row});
      const auto columns = reduced_columns(elements, layout, first_row);
      for (std::size_t i = 0; i < columns.size(); ++i) expected[i].merge(columns[i]);
      first_row += 2 * layout.rows;
    }
    for (Accumulator& column : expected) column.normalize();
    AxisTotals totals(element_type_of<T>(), needs, layout.columns);
    totals.merge(engine->finish(0));
    expect_columns(totals, expected, needs, matrix_name(layout));
  }
  std::mt19937_64 random_{7};
};

TEST_P(CudaAxisReduce, MatricesOfAllShapesAndByteOrders) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const auto& [rows, columns] :
         {std::pair{1u, 3001u}, {3001u, 1u}, {3u, 1000u}, {1000u, 3u}, {37u, 409u}, {1u, 1u}}) {
      for (const bool transposed : {false, true}) {
        const auto order = transposed ? ByteOrder::big : ByteOrder::little;
        expect_reduces<T>({rows, columns, transposed}, Sample::non_finite, everything, order);
      }
    }
  });
}

TEST_P(CudaAxisReduce, DataOfEveryKindThatSpillsOrNot) {
  visit_element_type(GetParam(), [&](auto element) {
    for (const Sample kind : all_samples)
      expect_reduces<decltype(element)>({400, 7}, kind, everything, native_byte_order);
  });
}

TEST_P(CudaAxisReduce, FillsWhatIsNeeded) {
  visit_element_type(GetParam(), [&](auto element) {
    for (unsigned bits = 0; bits < 16; ++bits) {
      const ReduceNeeds needs{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
      expect_reduces<decltype(element)>({50, 11, true}, Sample::wide, needs, native_byte_order);
    }
  });
}

TEST_P(CudaAxisReduce, ManyColumnsOrRows) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    for (const MatrixLayout layout :
         {MatrixLayout{2, 150001}, MatrixLayout{150001, 3}, MatrixLayout{2, 150001, true},
          MatrixLayout{150001, 2, true}, MatrixLayout{300001, 1}}) {
      const auto elements = sample<T>(Sample::wide, layout.elements(), 5);
      const ReduceNeeds needs{true, false, false, true};
      const auto engine =
          gpu_->make_axis_reduce_engine(slab_plan({GetParam()}), {needs, layout.columns});
      engine->begin(0, layout.columns);
      whole_slab(layout.slab(), elements).submit(*engine);
      AxisTotals totals(GetParam(), needs, layout.columns);
      totals.merge(engine->finish(0));
      expect_columns(totals, reduced_columns(elements, layout), needs, matrix_name(layout));
    }
  });
}

TEST_P(CudaAxisReduce, RowsOfABox) {
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const MatrixLayout layout{12, 5};
    const auto elements = sample<T>(Sample::equal, layout.elements(), 1);
    const auto engine = gpu_->make_axis_reduce_engine(slab_plan({GetParam()}), {everything, 5});
    engine->begin(0, layout.columns);
    BoxIndices rows{.first = 100, .dimensions = 2};
    rows.extent[0] = 3;
    rows.extent[1] = 4;
    rows.stride[0] = 10;
    rows.stride[1] = 1;
    whole_slab(layout.slab(), elements).submit(*engine, 0, rows);
    const AxisParts parts = engine->finish(0);
    for (const Extremum& minimum : parts.minimum) EXPECT_EQ(minimum.index, 100);
    engine->begin(0, 1);
    whole_slab(row_major({1, 1}), std::vector<T>{T{}}).submit(*engine, 0, {.first = 7});
    EXPECT_EQ(engine->finish(0).maximum.at(0).index, 7);
  });
}

TEST_P(CudaAxisReduce, ThreadsShareNothing) {
  constexpr int threads = 4;
  visit_element_type(GetParam(), [&](auto element) {
    using T = decltype(element);
    const auto engine =
        gpu_->make_axis_reduce_engine(slab_plan({GetParam()}, threads), {everything, 100});
    ASSERT_EQ(engine->threads(), threads);
    std::vector<std::thread> workers;
    for (int thread = 0; thread < threads; ++thread) {
      workers.emplace_back([&, thread] {
        for (std::uint64_t turn = 0; turn < 3; ++turn) {
          const MatrixLayout layout{40 + turn, 10 + static_cast<std::uint64_t>(thread)};
          const auto elements = sample<T>(Sample::uniform, layout.elements(), turn);
          engine->begin(thread, layout.columns);
          whole_slab(layout.slab(), elements).submit(*engine, thread);
          AxisTotals totals(GetParam(), everything, layout.columns);
          totals.merge(engine->finish(thread));
          expect_columns(totals, reduced_columns(elements, layout), everything,
                         matrix_name(layout));
        }
      });
    }
    for (std::thread& worker : workers) worker.join();
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaAxisReduce, ::testing::ValuesIn(all_element_types), type_name);

class CudaAxisReducePlans : public GpuTest {};

/// Elements above 0 alone count; NaN does not.
TEST_F(CudaAxisReducePlans, WhatIsLeftOutDoesNotCount) {
  const MatrixLayout layout{301, 20, true};
  const auto elements = sample<float>(Sample::non_finite, layout.elements(), 3);
  StagingPlan plan = slab_plan({ElementType::f32});
  plan.decoding.values.minimum = ordered_key(0.0f) + 1;
  plan.decoding.values.nan = false;
  const auto engine = make_backend({})->make_axis_reduce_engine(plan, {everything, layout.columns});
  engine->begin(0, layout.columns);
  whole_slab(layout.slab(), elements).submit(*engine);
  AxisTotals totals(ElementType::f32, everything, layout.columns);
  totals.merge(engine->finish(0));
  std::vector<Accumulator> expected(layout.columns, Accumulator::empty());
  for (std::uint64_t row = 0; row < layout.rows; ++row)
    for (std::uint64_t column = 0; column < layout.columns; ++column)
      if (const float value = elements[layout.index(row, column)]; value > 0)
        testing::reduce(expected[column], value, row);
  for (Accumulator& column : expected) column.normalize();
  expect_columns(totals, expected, everything, "positive");
}

TEST_F(CudaAxisReducePlans, SumsFollowElementsOfAnySize) {
  const auto engine = make_backend({})->make_axis_reduce_engine(slab_plan({ElementType::f64}),
                                                                {everything, hostile_kinds});
  for (const std::uint64_t rows : {7u, 2900u}) {
    const MatrixLayout layout{rows, hostile_kinds};
    std::vector<double> elements(layout.elements());
    for (std::size_t i = 0; i < elements.size(); ++i)
      elements[i] = hostile_element(i % hostile_kinds, i / hostile_kinds);
    engine->begin(0, layout.columns);
    std::vector<Accumulator> expected(layout.columns, Accumulator::empty());
    for (std::uint64_t slab = 0; slab < 3; ++slab) {
      whole_slab(layout.slab(), elements).submit(*engine, 0, {.first = slab * rows});
      const auto columns = reduced_columns(elements, layout, slab * rows);
      for (std::size_t i = 0; i < columns.size(); ++i) expected[i].merge(columns[i]);
    }
    for (Accumulator& column : expected) column.normalize();
    AxisTotals totals(ElementType::f64, everything, layout.columns);
    totals.merge(engine->finish(0));
    expect_columns(totals, expected, everything, matrix_name(layout));
  }
}

TEST_F(CudaAxisReducePlans, PackedElementsAreUnpacked) {
  const MatrixLayout layout{100, 33};
  const auto stored = sample<std::int16_t>(Sample::uniform, layout.elements(), 3);
  for (const ElementType type : {ElementType::f32, ElementType::f64}) {
    StagingPlan plan = slab_plan({ElementType::i16});
    plan.decoding.unpacking = {true, type, static_cast<double>(0.1f), 273.5};
    const auto engine =
        make_backend({})->make_axis_reduce_engine(plan, {everything, layout.columns});
    engine->begin(0, layout.columns);
    whole_slab(layout.slab(), stored).submit(*engine);
    AxisTotals totals(type, everything, layout.columns);
    totals.merge(engine->finish(0));
    std::vector<double> values;
    for (const std::int16_t element : stored) {
      const float product = static_cast<float>(element) * 0.1f;
      const double wide = static_cast<double>(element) * static_cast<double>(0.1f);
      values.push_back(type == ElementType::f32 ? static_cast<double>(product + 273.5f)
                                                : wide + 273.5);
    }
    expect_columns(totals, reduced_columns(values, layout), everything, "unpacked");
  }
}

TEST_F(CudaAxisReducePlans, ThreadsFitTheMemory) {
  const StagingPlan plan = slab_plan({ElementType::f32}, 64);
  const AxisReduceSpec spec{{true}, 1000};
  const auto engine = make_backend_with(256 << 20)->make_axis_reduce_engine(plan, spec);
  EXPECT_GE(engine->threads(), 1);
  EXPECT_LT(engine->threads(), 64);
  EXPECT_THROW(make_backend_with(1 << 20)->make_axis_reduce_engine(plan, spec), Error);
}

TEST_F(CudaAxisReducePlans, TooLargeSlabsAreRefused) {
  const auto engine =
      make_backend({})->make_axis_reduce_engine(slab_plan({ElementType::f32}), {{true}, 10});
  EXPECT_THROW(engine->begin(0, 11), Error);
  engine->begin(0, 10);
  StagedChunks slab;
  slab.grid.dimensions = 1;
  slab.target.elements = max_slab_elements + 1;
  EXPECT_THROW(engine->submit(engine->take(0), slab), Error);
}

}  // namespace
}  // namespace warpfold::cuda
