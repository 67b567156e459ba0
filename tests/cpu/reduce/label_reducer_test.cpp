#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "core/layout/random_grids.hpp"
#include "core/results/axis_totals.hpp"
#include "core/results/label_numbers.hpp"
#include "core/results/reducing.hpp"
#include "core/values/value_filters.hpp"
#include "cpu/chunks/staged.hpp"
#include "cpu/kernels/kernel_cases.hpp"
#include "cpu/reduce/axis_reducer.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;
using warpfold::testing::ChunkedShape;
using warpfold::testing::everything;
using warpfold::testing::Extents;
using warpfold::testing::random_shape;

/// A dataset, and how many of its last dimensions labels have.
struct Labelled {
  ChunkedShape shape;
  std::size_t dimensions;
};

const Labelled large[] = {{{{300, 700}, {300, 700}}, 1}, {{{40, 33, 20}, {7, 33, 20}}, 2},
                          {{{2000, 3}, {900, 3}}, 1},    {{{3000, 1}, {3000, 1}}, 1},
                          {{{5000, 2}, {5000, 1}}, 1},   {{{3, 5000}, {3, 5000}}, 2},
                          {{{9000}, {9000}}, 0},         {{{150, 4, 30}, {150, 2, 30}}, 2}};

constexpr Kind label_kinds[] = {Kind::uniform,   Kind::wide,     Kind::cancelling, Kind::subnormal,
                                Kind::sprinkled, Kind::all_bits, Kind::constant};

/// Numbers of `outputs` labels, some of them in runs, and places that have none.
std::vector<std::uint32_t> random_numbers(std::uint64_t places, std::uint64_t outputs,
                                          std::mt19937_64& random) {
  std::vector<std::uint32_t> numbers(places);
  for (std::uint32_t& number : numbers)
    number = random() % 4 == 0 ? no_label : static_cast<std::uint32_t>(random() % outputs);
  for (std::uint64_t i = 1; i < places; ++i)
    if (random() % 2 == 0) numbers[i] = numbers[i - 1];
  return numbers;
}

/// A reducer's totals, beside those of elements that are added one by one.
template <class T>
class Comparison {
 public:
  Comparison(const Kernels& kernels, ElementFormat format, const Decoding& decoding)
      : decoding_(decoding), reducer_(make_axis_reducer(kernels, format, decoding, everything)) {
    reducer_->begin(0);
  }

  void reduce(const Labelled& labelled, const ChunkedDataset<T>& dataset, std::uint64_t first_index,
              std::uint64_t outputs, std::mt19937_64& random) {
    StagedChunks slab;
    slab.grid.dimensions = static_cast<int>(labelled.shape.shape.size());
    std::uint64_t places = 1;
    std::uint64_t row = 1;
    const Extents& shape = labelled.shape.shape;
    for (std::size_t d = shape.size(); d-- > 0;) {
      slab.grid.extent[d] = shape[d];
      slab.grid.chunk_extent[d] = labelled.shape.chunk_shape[d];
      slab.target.stride[d] = places;
      places *= shape[d];
      if (d + labelled.dimensions >= shape.size()) row = places;
    }
    slab.target.elements = places;
    slab.indices.first = first_index;
    slab.fill = dataset.fill();
    std::vector<std::byte> staging;
    const auto chunks = dataset.stage({0, dataset.grid().chunks()}, staging, random);
    slab.chunks = chunks;
    numbers_ = random_numbers(row, outputs, random);
    reducer_->label(numbers_, outputs);
    reducer_->reduce(slab, staging.data());
    expected_.resize(outputs, Accumulator::empty());
    for (std::uint64_t place = 0; place < places; ++place) {
      const std::uint32_t number = numbers_[place % row];
      T value;
      if (number != no_label && decode(decoding_, dataset.elements()[place], value))
        warpfold::testing::reduce(expected_[number], value, first_index + place);
    }
  }

  void expect_equal() {
    AxisTotals totals(element_type_of<T>(), everything, expected_.size());
    totals.merge(reducer_->finish());
    for (std::uint64_t output = 0; output < expected_.size(); ++output) {
      expected_[output].normalize();
      const Accumulator actual = totals.accumulator(output);
      ASSERT_EQ(std::memcmp(&actual, &expected_[output], sizeof actual), 0) << "output " << output;
    }
  }

 private:
  const Decoding& decoding_;
  std::unique_ptr<LabelReducer> reducer_;
  std::vector<std::uint32_t> numbers_;
  std::vector<Accumulator> expected_;
};

class EveryLabel : public EveryTypeByKernels {};

TEST_P(EveryLabel, IsReducedAsItsElementsAre) {
  const auto [type, kernels] = GetParam();
  std::mt19937_64 random(21);
  visit_element_type(type, [&, type = type, kernels = kernels](auto element) {
    using T = decltype(element);
    for (std::size_t i = 0; i < 40; ++i) {
      SCOPED_TRACE("dataset " + std::to_string(i));
      Labelled labelled;
      if (i < std::size(large)) {
        labelled = large[i];
      } else {
        labelled.shape = random_shape(random);
        labelled.dimensions = random() % (labelled.shape.shape.size() + 1);
      }
      const ElementFormat format{type, i % 3 == 1 ? ByteOrder::big : ByteOrder::little};
      Decoding decoding;
      if (i % 4 == 1) decoding.values = filter_of_conditions(std::vector<std::string>{">=3"}, type);
      Comparison<T> comparison(*kernels, format, decoding);
      for (const std::uint64_t outputs : {1u, 9u, 50u}) {
        const Kind kind = label_kinds[(i + outputs) % std::size(label_kinds)];
        const ChunkedDataset<T> dataset(labelled.shape, kind, format, random);
        comparison.reduce(labelled, dataset, 1000 * outputs, outputs, random);
      }
      comparison.expect_equal();
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cpu, EveryLabel, every_type_by_kernels(), type_and_kernels);

}  // namespace
}  // namespace warpfold::cpu
