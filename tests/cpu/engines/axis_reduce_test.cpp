#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/results/axis_totals.hpp"
#include "core/results/reducing.hpp"
#include "core/values/value_filters.hpp"
#include "cpu/chunks/staged.hpp"
#include "cpu/engines/backend.hpp"
#include "cpu/kernels/kernel_cases.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;
using warpfold::testing::ChunkedShape;
using warpfold::testing::coordinates_of;
using warpfold::testing::everything;
using warpfold::testing::Extents;
using warpfold::testing::random_shape;
using warpfold::testing::reduced;

/// Which dimensions are reduced, and where that leaves each element.
struct AxisGeometry {
  AxisGeometry(const Extents& shape, std::uint64_t reduced_bits) : stride(shape.size()) {
    for (std::size_t d = shape.size(); d-- > 0;) {
      const bool is_reduced = (reduced_bits >> d & 1) != 0;
      std::uint64_t& extent = is_reduced ? rows : outputs;
      stride[d] = extent;
      extent *= shape[d];
      reduced.push_back(is_reduced);
    }
    std::reverse(reduced.begin(), reduced.end());
    for (std::size_t d = 0; d < shape.size(); ++d)
      if (reduced[d]) stride[d] *= outputs;
  }

  std::uint64_t place(const Extents& coordinates) const {
    std::uint64_t place = 0;
    for (std::size_t d = 0; d < stride.size(); ++d) place += coordinates[d] * stride[d];
    return place;
  }

  std::uint64_t outputs = 1;
  std::uint64_t rows = 1;
  std::vector<bool> reduced;
  Extents stride;  ///< strides of places
};

/// A grid of all of the shape's dimensions, and the target that a geometry makes.
StagedChunks slab_of(const ChunkedShape& shape, const AxisGeometry& geometry) {
  StagedChunks slab;
  slab.grid.dimensions = static_cast<int>(shape.shape.size());
  for (std::size_t d = 0; d < shape.shape.size(); ++d) {
    slab.grid.extent[d] = shape.shape[d];
    slab.grid.chunk_extent[d] = shape.chunk_shape[d];
    slab.target.stride[d] = geometry.stride[d];
  }
  slab.target.elements = geometry.outputs * geometry.rows;
  return slab;
}

/// Each output's elements, row by row.
template <class T>
std::vector<std::vector<T>> columns_of(const std::vector<T>& elements, const Extents& shape,
                                       const AxisGeometry& geometry) {
  std::vector<std::vector<T>> columns(geometry.outputs, std::vector<T>(geometry.rows));
  for (std::uint64_t i = 0; i < elements.size(); ++i) {
    const std::uint64_t place = geometry.place(coordinates_of(i, shape));
    columns[place % geometry.outputs][place / geometry.outputs] = elements[i];
  }
  return columns;
}

/// Expects what comes of the values that take(element, value) sets where an element counts.
template <class Value, class T, class Take>
void expect_values(AxisReduceEngine& engine, int thread, ReduceNeeds needs,
                   const std::vector<std::vector<T>>& columns, const Take& take) {
  AxisTotals totals(element_type_of<Value>(), needs, columns.size());
  totals.merge(engine.finish(thread));
  for (std::uint64_t output = 0; output < columns.size(); ++output) {
    Accumulator expected = Accumulator::empty();
    for (std::uint64_t row = 0; row < columns[output].size(); ++row) {
      Value value;
      if (take(columns[output][row], value)) warpfold::testing::reduce(expected, value, row);
    }
    expected.normalize();
    const Accumulator actual = totals.accumulator(output);
    ASSERT_EQ(std::memcmp(&actual, &expected, sizeof actual), 0) << "output " << output;
  }
}

template <class T>
void expect_columns(AxisReduceEngine& engine, int thread, ReduceNeeds needs,
                    const std::vector<std::vector<T>>& columns) {
  expect_values<T>(engine, thread, needs, columns, [](T element, T& value) {
    value = element;
    return true;
  });
}

template <class T>
void reduce_whole(AxisReduceEngine& engine, int thread, const ChunkedShape& shape,
                  const ChunkedDataset<T>& dataset, const AxisGeometry& geometry,
                  std::uint64_t first_row, std::mt19937_64& random) {
  StagedChunks slab = slab_of(shape, geometry);
  std::vector<std::byte> bytes;
  const auto chunks = dataset.stage({0, dataset.grid().chunks()}, bytes, random);
  const Ticket ticket = engine.take(thread);
  std::copy(bytes.begin(), bytes.end(), ticket.memory.begin());
  slab.chunks = chunks;
  slab.fill = dataset.fill();
  slab.indices.first = first_row;
  engine.submit(ticket, slab);
}

StagingPlan plan_of(ElementFormat format, const ChunkedShape& shape, const ChunkGrid& grid,
                    const Decoding& decoding = {}, int threads = 1) {
  const std::uint64_t bytes = grid.chunks() * (grid.chunk_elements() * size_of(format.type) + 16);
  return {format, decoding, shape.elements(), bytes, Staging::chunks, threads};
}

constexpr Kind kinds[] = {Kind::uniform,   Kind::wide,      Kind::cancelling,
                          Kind::subnormal, Kind::sprinkled, Kind::only_nan,
                          Kind::constant,  Kind::zeros,     Kind::all_bits};

/// A dataset, and which dimensions of it are reduced: bit d stands for dimension d.
struct Reduction {
  ChunkedShape shape;
  std::uint64_t reduced;
};

const Reduction large_reductions[] = {{{{3, 8, 5}, {3, 8, 1}}, 6},
                                      {{{2, 2000, 3}, {2, 2000, 1}}, 6},
                                      {{{20011}, {9000}}, 0},
                                      {{{20011}, {20011}}, 1},
                                      {{{150, 201}, {150, 201}}, 2},
                                      {{{3, 9000}, {2, 9000}}, 3},
                                      {{{9000, 3}, {5000, 3}}, 0},
                                      {{{7, 900, 3}, {7, 450, 3}}, 0},
                                      {{{900, 7, 3}, {900, 7, 3}}, 1},
                                      {{{3, 7, 900}, {2, 7, 900}}, 2},
                                      {{{20, 1500}, {20, 1500}}, 2},
                                      {{{300, 64}, {300, 64}}, 2},
                                      {{{3, 400, 10}, {3, 400, 10}}, 2},
                                      {{{2, 1000, 3}, {2, 1000, 3}}, 2},
                                      {{{3000, 5}, {3000, 5}}, 1},
                                      {{{3, 5000}, {3, 5000}}, 2}};

class EveryAxis : public EveryTypeByKernels {};

TEST_P(EveryAxis, IsReducedAsItsColumnsAre) {
  const auto [type, kernels] = GetParam();
  const auto backend = make_backend(1, *kernels);
  std::mt19937_64 random(11);
  visit_element_type(type, [&, type = type](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < 60; ++i) {
      const Reduction reduction = i < std::size(large_reductions)
                                      ? large_reductions[i]
                                      : Reduction{random_shape(random), random()};
      const ChunkedShape& shape = reduction.shape;
      const AxisGeometry geometry(shape.shape, reduction.reduced);
      const Kind kind = kinds[(i + i / std::size(kinds)) % std::size(kinds)];
      SCOPED_TRACE("dataset " + std::to_string(i));
      const ElementFormat format{type, i % 3 == 1 ? ByteOrder::big : ByteOrder::little};
      const ChunkedDataset<T> dataset(shape, kind, format, random);
      const auto engine = backend->make_axis_reduce_engine(plan_of(format, shape, dataset.grid()),
                                                           {everything, geometry.outputs});
      engine->begin(0, geometry.outputs);
      reduce_whole(*engine, 0, shape, dataset, geometry, 0, random);
      expect_columns(*engine, 0, everything, columns_of(dataset.elements(), shape.shape, geometry));
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryAxis, every_type_by_kernels(), type_and_kernels);

TEST(AxisReduce, ThreadsTakeSlabsInAnyOrder) {
  const ChunkedShape shape{{64, 33}, {16, 33}};
  const AxisGeometry geometry(shape.shape, 1);
  std::mt19937_64 random(12);
  const ElementFormat format{ElementType::f64};
  const ChunkedDataset<double> upper(shape, Kind::wide, format, random);
  const ChunkedDataset<double> lower(shape, Kind::sprinkled, format, random);
  const auto engine = make_backend(1)->make_axis_reduce_engine(
      plan_of(format, shape, upper.grid(), {}, 2), {everything, geometry.outputs});
  ASSERT_EQ(engine->threads(), 2);
  auto columns = columns_of(upper.elements(), shape.shape, geometry);
  const auto more = columns_of(lower.elements(), shape.shape, geometry);
  for (std::size_t i = 0; i < columns.size(); ++i)
    columns[i].insert(columns[i].end(), more[i].begin(), more[i].end());
  const auto reduce_twice = [&](int thread) {
    std::mt19937_64 own(static_cast<std::uint64_t>(thread));
    engine->begin(thread, 5);
    engine->finish(thread);
    engine->begin(thread, geometry.outputs);
    reduce_whole(*engine, thread, shape, lower, geometry, 64, own);
    reduce_whole(*engine, thread, shape, upper, geometry, 0, own);
  };
  {
    const std::jthread other([&] { reduce_twice(1); });
    reduce_twice(0);
  }
  expect_columns(*engine, 0, everything, columns);
  expect_columns(*engine, 1, everything, columns);
}

/// Elements that are left out by what is stored, by their value, or by both.
template <class T>
void expect_left_out() {
  const ElementType type = element_type_of<T>();
  const ChunkedShape shape{{50, 40}, {20, 40}};
  const AxisGeometry geometry(shape.shape, 1);
  std::mt19937_64 random(17);
  const ElementFormat format{type, ByteOrder::big};
  const ChunkedDataset<T> dataset(shape, Kind::all_bits, format, random);
  for (const auto& [stored, values] : {std::pair{true, false}, {false, true}, {true, true}}) {
    Decoding decoding;
    if (stored) decoding.stored.excluded[decoding.stored.excluded_count++] = ordered_key(T{});
    if (values) decoding.values = filter_of_conditions(std::vector<std::string>{">=3"}, type);
    const auto engine = make_backend(1)->make_axis_reduce_engine(
        plan_of(format, shape, dataset.grid(), decoding), {everything, geometry.outputs});
    engine->begin(0, geometry.outputs);
    reduce_whole(*engine, 0, shape, dataset, geometry, 0, random);
    SCOPED_TRACE(name_of(type));
    expect_values<T>(*engine, 0, everything, columns_of(dataset.elements(), shape.shape, geometry),
                     [&](T element, T& value) { return decode(decoding, element, value); });
  }
}

TEST(AxisReduce, LeavesOutOfAllTypes) {
  for (const ElementType type : all_element_types)
    visit_element_type(type, [](auto element) { expect_left_out<decltype(element)>(); });
}

TEST(AxisReduce, LeavesOutAndUnpacks) {
  Decoding unpacking;
  unpacking.unpacking = {true, ElementType::f32, 0.5, 1000.0};
  Decoding filtering = unpacking;
  filtering.stored.minimum = ordered_key(std::int16_t{10});
  filtering.values.excluded[0] = ordered_key(1021.0f);
  filtering.values.excluded_count = 1;
  const ChunkedShape shape{{50, 40}, {20, 40}};
  const AxisGeometry geometry(shape.shape, 1);
  std::mt19937_64 random(13);
  const ElementFormat format{ElementType::i16, ByteOrder::big};
  for (const Kind kind : {Kind::wide, Kind::uniform}) {
    for (const bool leaves_out : {true, false}) {
      const Decoding& decoding = leaves_out ? filtering : unpacking;
      const ChunkedDataset<std::int16_t> dataset(shape, kind, format, random);
      const auto engine = make_backend(1)->make_axis_reduce_engine(
          plan_of(format, shape, dataset.grid(), decoding), {everything, geometry.outputs});
      engine->begin(0, geometry.outputs);
      reduce_whole(*engine, 0, shape, dataset, geometry, 0, random);
      expect_values<float>(*engine, 0, everything,
                           columns_of(dataset.elements(), shape.shape, geometry),
                           [leaves_out](std::int16_t stored, float& value) {
                             value = static_cast<float>(stored) * 0.5f + 1000.0f;
                             return !leaves_out || (stored >= 10 && value != 1021.0f);
                           });
    }
  }
}

TEST(AxisReduce, FillsWhatIsNeededAlone) {
  const ElementFormat format{ElementType::f32};
  const ChunkedShape shape{{70, 600}, {70, 600}};
  const AxisGeometry geometry(shape.shape, 1);
  std::mt19937_64 random(14);
  const ChunkedDataset<float> dataset(shape, Kind::sprinkled, format, random);
  for (const ReduceNeeds needs :
       {ReduceNeeds{}, ReduceNeeds{.sum = true}, ReduceNeeds{.extrema = true}}) {
    const auto engine = make_backend(1)->make_axis_reduce_engine(
        plan_of(format, shape, dataset.grid()), {needs, geometry.outputs});
    engine->begin(0, geometry.outputs);
    reduce_whole(*engine, 0, shape, dataset, geometry, 0, random);
    const AxisParts parts = engine->finish(0);
    EXPECT_EQ(parts.sum.size(), needs.sum ? geometry.outputs : 0);
    EXPECT_EQ(parts.squares.size(), 0u);
    EXPECT_EQ(parts.minimum.size(), needs.extrema ? geometry.outputs : 0);
    const auto columns = columns_of(dataset.elements(), shape.shape, geometry);
    for (std::uint64_t output = 0; output < columns.size(); ++output) {
      const Accumulator expected = reduced(columns[output]);
      ASSERT_EQ(parts.counts[output].elements, columns[output].size());
      ASSERT_EQ(parts.counts[output].nan, static_cast<std::uint64_t>(expected.nan_count));
      ASSERT_EQ(parts.first_nan[output], expected.first_nan);
    }
  }
}

}  // namespace
}  // namespace warpfold::cpu
