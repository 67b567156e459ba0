#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_arrays.hpp"
#include "core/values/generated_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

template <class T>
constexpr ElementType type_of =
    std::is_same_v<T, std::int32_t> ? ElementType::i32 : ElementType::u32;

template <class T>
std::vector<T> random_elements(std::uint64_t count) {
  const generated::RandomBits random(count);
  std::vector<T> elements(count);
  for (std::uint64_t i = 0; i < count; ++i) elements[i] = static_cast<T>(random(i));
  return elements;
}

/// Lists thresholds that select all, none, and one in two, four and some hundred.
template <class T>
std::vector<T> thresholds() {
  using Limits = std::numeric_limits<T>;
  const T middle = std::midpoint(Limits::lowest(), Limits::max());
  const T upper = std::midpoint(middle, Limits::max());
  return {Limits::lowest(), Limits::max(), middle, upper,
          static_cast<T>(Limits::max() - (1 << 24))};
}

/// The kept elements in ascending order.
template <class T>
std::vector<T> kept_of(std::vector<T> elements, T threshold) {
  std::erase_if(elements, [threshold](T element) { return !(element > threshold); });
  std::sort(elements.begin(), elements.end());
  return elements;
}

template <class T>
std::vector<T> filtered(const FilterVariant& variant, const GuardedArray<T>& input,
                        std::uint64_t size, T threshold) {
  const GuardedArray<T> kept(size);
  const GuardedArray<std::uint64_t> count(1);
  const cuda::Stream stream;
  variant.start(input.data(), size, &threshold, kept.data(), count.data(), stream.get());
  stream.synchronize();
  std::vector<T> elements = kept.read().value();
  elements.resize(count.read().value().front());
  std::sort(elements.begin(), elements.end());
  return elements;
}

template <class T>
void expect_kept(std::uint64_t size) {
  const auto elements = random_elements<T>(size);
  const GuardedArray<T> input(elements);
  for (const T threshold : thresholds<T>()) {
    const auto expected = kept_of(elements, threshold);
    for (const FilterVariant& variant : atomics_variants(type_of<T>))
      EXPECT_TRUE(filtered(variant, input, size, threshold) == expected)
          << variant.name << " of " << size << " above " << threshold;
  }
}

template <class T>
class CudaAtomicsLadder : public cuda::GpuTest {};

using FilterTypes = testing::Types<std::int32_t, std::uint32_t>;
TYPED_TEST_SUITE(CudaAtomicsLadder, FilterTypes);

TYPED_TEST(CudaAtomicsLadder, HasSixVariantsAndRefusesNone) {
  const auto variants = atomics_variants(type_of<TypeParam>);
  EXPECT_EQ(variants.size(), 6u);
  for (const FilterVariant& variant : variants) EXPECT_EQ(variant.refusal, "") << variant.name;
}

TYPED_TEST(CudaAtomicsLadder, FewElementsAreKeptIfAboveTheThreshold) {
  for (const std::uint64_t size : small_sizes) expect_kept<TypeParam>(size);
}

TYPED_TEST(CudaAtomicsLadder, ManyElementsAreKeptIfAboveTheThreshold) {
  for (const std::uint64_t size : {(1u << 20) - 1, 1u << 20, (1u << 20) + 1})
    expect_kept<TypeParam>(size);
}

using CudaAtomicsLadderOf = cuda::GpuTest;

TEST_F(CudaAtomicsLadderOf, U32CountsMoreElementsThan32BitsCount) {
  if (const auto missing = missing_memory(huge_size * 9); !missing.empty()) GTEST_SKIP() << missing;
  const GuardedArray<std::uint32_t> input(huge_size);
  const GuardedArray<std::uint32_t> kept(huge_size);
  const GuardedArray<std::uint64_t> count(1);
  const cuda::Stream stream;
  const std::uint32_t threshold = 0;
  for (const FilterVariant& variant : atomics_variants(ElementType::u32)) {
    variant.start(input.data(), huge_size, &threshold, kept.data(), count.data(), stream.get());
    stream.synchronize();
    EXPECT_EQ(count.read().value().front(), huge_size) << variant.name;
  }
}

TEST_F(CudaAtomicsLadderOf, OtherTypesAreRefused) {
  EXPECT_THROW(atomics_variants(ElementType::f32), Error);
}

}  // namespace
}  // namespace warpfold::bench::ladder
