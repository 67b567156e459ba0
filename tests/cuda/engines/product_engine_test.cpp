#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/results/axis_totals.hpp"
#include "core/values/factors.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/axis_slabs.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr ReduceNeeds sums{.sum = true, .absolute = true, .weighted = true};
constexpr ReduceNeeds weighted_moments{
    .sum = true, .absolute = true, .squares = true, .weighted = true};

/// The elements of the sample box, reduced along some of its axes.
struct Reduction {
  std::vector<std::uint64_t> stride;
  std::uint64_t outputs;
};
const std::vector<Reduction> reductions{
    {{25, 50, 1}, 50}, {{12, 1, 24}, 24}, {{1, 2, 24}, 2}, {{300, 25, 1}, 300}, {{300, 25, 1}, 1}};

struct FactorShape {
  std::uint64_t stride;
  std::uint64_t period;
};
const std::vector<FactorShape> factor_shapes{{1, 3400}, {1, 40}, {40, 17}, {680, 5}, {1, 1}};

/// Weights, or factors that may be anything; of either some leave their elements out.
std::vector<double> sample_factors(Sample kind, bool are_weights, std::uint64_t count) {
  std::vector<double> factors = sample<double>(kind, count, 11);
  std::mt19937_64 random(count);
  for (double& factor : factors) {
    if (are_weights) factor = std::isfinite(factor) ? std::fabs(factor) : 0.5;
    if (random() % 8 == 0) factor = 0.0;
    if (random() % 8 == 0) factor = left_out_mark<double>;
    if (!are_weights && random() % 40 == 0) factor = -std::numeric_limits<double>::infinity();
    if (!are_weights && random() % 40 == 0) factor = std::numeric_limits<double>::quiet_NaN();
  }
  return factors;
}

StagingPlan plan_of(ElementFormat format, std::uint64_t elements, Decoding decoding = {}) {
  return {format, decoding, elements, 2 * elements * 8, Staging::chunks};
}

template <class T>
AxisTotals reduced_with_factors(Backend& backend, const std::vector<T>& elements,
                                const Reduction& reduction, const ReduceNeeds& needs,
                                const Factors& factors, Decoding decoding = {}) {
  const SlabLayout layout{sample_box.count, reduction.stride};
  const auto engine =
      backend.make_axis_reduce_engine(plan_of({element_type_of<T>()}, layout.elements(), decoding),
                                      {needs, reduction.outputs, 1, factors});
  engine->begin(0, reduction.outputs);
  for (const std::uint64_t first_row : {3u, 70u}) {
    const SampleSlab slab = whole_slab(layout, elements);
    const Ticket ticket = engine->take(0);
    StagedChunks staged = slab.stage(ticket.memory);
    staged.indices = box_indices(sample_box, layout.stride, sample_array_shape);
    staged.rows = {.first = first_row};
    engine->submit(ticket, staged);
  }
  AxisTotals totals(ElementType::f64, needs, reduction.outputs);
  totals.merge(engine->finish(0));
  return totals;
}

void expect_equal_sums(const AxisTotals& gpu, const AxisTotals& cpu, const ReduceNeeds& needs,
                       const std::string& what) {
  ASSERT_EQ(gpu.outputs(), cpu.outputs()) << what;
  for (std::uint64_t i = 0; i < gpu.outputs() && !::testing::Test::HasFailure(); ++i) {
    const WeightedSums found = gpu.weighted_sums(i);
    const WeightedSums expected = cpu.weighted_sums(i);
    if (needs.sum) {
      EXPECT_EQ(limbs_of(found.products), limbs_of(expected.products)) << what;
    }
    EXPECT_EQ(limbs_of(found.weights), limbs_of(expected.weights)) << what;
    EXPECT_EQ(limbs_of(found.squares), limbs_of(expected.squares)) << what;
    const AxisCounts& counts = gpu.parts().counts[i];
    const AxisCounts& expected_counts = cpu.parts().counts[i];
    EXPECT_EQ(counts.elements, expected_counts.elements) << what;
    EXPECT_EQ(counts.nan, expected_counts.nan) << what;
    EXPECT_EQ(counts.positive_infinities, expected_counts.positive_infinities) << what;
    EXPECT_EQ(counts.negative_infinities, expected_counts.negative_infinities) << what;
    EXPECT_EQ(gpu.parts().first_nan[i], cpu.parts().first_nan[i]) << what;
  }
}

class CudaProducts : public BothBackends {
 protected:
  /// Reduces elements of the parameter's type by either backend.
  void expect_same(Sample kind, const Reduction& reduction, const ReduceNeeds& needs,
                   const Factors& factors, Decoding decoding = {}) {
    visit_element_type(GetParam(), [&](auto element) {
      const auto elements = sample<decltype(element)>(kind, sample_box.elements(), 3);
      expect_equal_sums(
          reduced_with_factors(*gpu_, elements, reduction, needs, factors, decoding),
          reduced_with_factors(*cpu_, elements, reduction, needs, factors, decoding), needs,
          std::to_string(reduction.outputs) + " outputs, stride " + std::to_string(factors.stride) +
              ", period " + std::to_string(factors.period));
    });
  }
};

TEST_P(CudaProducts, OfWeightsOfEveryShape) {
  for (const FactorShape& shape : factor_shapes) {
    const auto weights = sample_factors(Sample::uniform, true, shape.period);
    for (const Reduction& reduction : reductions)
      expect_same(Sample::non_finite, reduction, sums,
                  {weights.data(), shape.stride, shape.period, true});
  }
}

TEST_P(CudaProducts, OfElementsAndFactorsOfEveryKind) {
  for (const Sample kind : all_samples) {
    for (const Sample kind_of_factors : all_samples) {
      const auto factors = sample_factors(kind_of_factors, false, 3400);
      expect_same(kind, reductions[0], {.sum = true}, {factors.data(), 1, 3400, false});
      const auto weights = sample_factors(kind_of_factors, true, 40);
      expect_same(kind, reductions[1], sums, {weights.data(), 1, 40, true});
    }
  }
}

TEST_P(CudaProducts, CountsAlone) {
  const auto weights = sample_factors(Sample::uniform, true, 40);
  expect_same(Sample::non_finite, reductions[0], {.weighted = true}, {weights.data(), 1, 40, true});
}

TEST_P(CudaProducts, LeavesOutWhatDecodingsSay) {
  const auto weights = sample_factors(Sample::uniform, true, 17);
  const std::vector<std::uint64_t> bits{0xf0f0'3333'5555'0fffu};
  visit_element_type(GetParam(), [&](auto element) {
    Decoding decoding;
    decoding.values.minimum = ordered_key(decltype(element){}) + 1;
    decoding.values.nan = false;
    decoding.mask = {bits.data(), 40};
    expect_same(Sample::non_finite, reductions[0], sums, {weights.data(), 40, 17, true}, decoding);
  });
}

TEST_P(CudaProducts, OfSquaresAndWeightsOfEveryKind) {
  for (const Sample kind : all_samples) {
    for (const Sample kind_of_weights : all_samples) {
      const auto weights = sample_factors(kind_of_weights, true, 3400);
      expect_same(kind, reductions[0], weighted_moments, {weights.data(), 1, 3400, true});
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaProducts, ::testing::ValuesIn(all_element_types), type_name);

class CudaProductsPlans : public GpuTest {};

TEST_F(CudaProductsPlans, MoreProductsThanTheListHoldsAreNotLost) {
  constexpr std::uint64_t count = 400'000;
  const std::vector<double> elements(count, 0x1.8p-1000);
  const double factor = 0x1p-1000;
  const auto engine = make_backend({})->make_axis_reduce_engine(
      plan_of({ElementType::f64}, count), {{.sum = true}, 3, 1, {&factor, 1, 1, false}});
  engine->begin(0, 3);
  whole_slab(row_major({count}), elements).submit(*engine);
  AxisTotals totals(ElementType::f64, {.sum = true}, 3);
  totals.merge(engine->finish(0));
  for (std::uint64_t output = 0; output < 3; ++output) {
    ExactSumOfSquares expected{};
    expected.add_product(0x1.8p-1000 * static_cast<double>((count + 2 - output) / 3), factor);
    expected.normalize();
    EXPECT_EQ(limbs_of(totals.weighted_sums(output).products), limbs_of(expected));
  }
}

TEST_F(CudaProductsPlans, FactorsThatDoNotFitAreLeftToOthers) {
  const double factor = 1;
  const AxisReduceSpec spec{sums, 1000, 1, {&factor, 1, std::uint64_t{1} << 26, true}};
  EXPECT_EQ(make_backend_with(256 << 20)->make_axis_reduce_engine(
                plan_of({ElementType::f32}, 1 << 20), spec),
            nullptr);
}

}  // namespace
}  // namespace warpfold::cuda
