#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_arrays.hpp"
#include "bench/ladder/ladder_kernels.hpp"
#include "bench/ladder/ladder_pattern.hpp"
#include "core/values/generated_elements.hpp"
#include "core/values/generator.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::bench::ladder {
namespace {

template <class T>
constexpr ElementType type_of = std::is_same_v<T, std::uint32_t> ? ElementType::u32
                                : std::is_same_v<T, float>       ? ElementType::f32
                                                                 : ElementType::f64;

/// Any u32. Floats are integers so few or so small that no partial sum is rounded.
template <class T>
T element(std::uint64_t bits, std::uint64_t elements) {
  if constexpr (std::is_same_v<T, std::uint32_t>)
    return static_cast<T>(bits);
  else if constexpr (std::is_same_v<T, double>)
    return static_cast<T>(bits >> 40) - static_cast<T>(1 << 23);
  else if (elements <= 1 << 21)
    return static_cast<T>(bits % 15) - 7;
  else
    return bits % 16 == 0 ? 1 : 0;
}

template <class T>
std::vector<T> random_elements(std::uint64_t count) {
  const generated::RandomBits random(count);
  std::vector<T> elements(count);
  for (std::uint64_t i = 0; i < count; ++i) elements[i] = element<T>(random(i), count);
  return elements;
}

/// The sum that a variant makes of an array in device memory, in scratch memory that holds
/// anything.
template <class T>
T summed(const Variant& variant, const T* input, std::uint64_t elements) {
  const std::uint64_t scratch_bytes = variant.scratch_bytes(elements);
  const cuda::DeviceBuffer scratch(scratch_bytes);
  const GuardedArray<T> output(1);
  const cuda::Stream stream;
  if (scratch_bytes != 0) cuda::fill_bytes(scratch.data(), 0xff, scratch_bytes, stream.get());
  variant.start(input, elements, output.data(), scratch.data(), stream.get());
  stream.synchronize();
  return output.read().value().front();
}

template <class T>
void expect_sum(const T* input, std::uint64_t elements, T expected) {
  for (const Variant& variant : reduce_variants(type_of<T>)) {
    if (!variant.refusal.empty()) continue;
    EXPECT_EQ(summed(variant, input, elements), expected) << variant.name << " of " << elements;
  }
}

template <class T>
void expect_sum_of(const std::vector<T>& elements) {
  const GuardedArray<T> input(elements);
  expect_sum<T>(input.data(), elements.size(),
                std::accumulate(elements.begin(), elements.end(), T{0}));
}

template <class T>
class CudaReduceLadder : public cuda::GpuTest {};

using ReduceTypes = testing::Types<std::uint32_t, float, double>;
TYPED_TEST_SUITE(CudaReduceLadder, ReduceTypes);

TYPED_TEST(CudaReduceLadder, HasTenVariantsOfDifferentNames) {
  const auto variants = reduce_variants(type_of<TypeParam>);
  EXPECT_EQ(variants.size(), 10u);
  for (const Variant& variant : variants)
    EXPECT_EQ(std::count_if(variants.begin(), variants.end(),
                            [&](const Variant& other) { return other.name == variant.name; }),
              1);
}

TYPED_TEST(CudaReduceLadder, SumsOfFewElementsAreExact) {
  for (const std::uint64_t size : small_sizes) expect_sum_of(random_elements<TypeParam>(size));
}

TYPED_TEST(CudaReduceLadder, SumsOfManyElementsAreExact) {
  for (const std::uint64_t size : large_sizes) expect_sum_of(random_elements<TypeParam>(size));
}

using CudaReduceLadderOf = cuda::GpuTest;

TEST_F(CudaReduceLadderOf, U32SumsMoreElementsThan32BitsCount) {
  if (const auto missing = missing_memory(huge_size * 5); !missing.empty()) GTEST_SKIP() << missing;
  const GuardedArray<std::uint32_t> input(huge_size);
  const cuda::Stream stream;
  fill_pattern(input.data(), huge_size, stream.get());
  stream.synchronize();
  expect_sum(input.data(), huge_size, Pattern::sum(huge_size));
}

TEST_F(CudaReduceLadderOf, U32SumsTheMiddleSquareWeylSequence) {
  constexpr std::uint64_t draws = std::uint64_t{1} << 30;
  constexpr std::uint64_t chunk = std::uint64_t{1} << 26;
  if (const auto missing = missing_memory(draws * 5); !missing.empty()) GTEST_SKIP() << missing;
  GeneratorSpec spec;
  spec.kind = GeneratorKind::msws;
  spec.format.type = ElementType::u32;
  spec.elements = draws;
  const auto generator = make_generator(spec);
  const GuardedArray<std::uint32_t> input(draws);
  const cuda::Stream stream;
  std::vector<std::uint32_t> host(chunk);
  for (std::uint64_t first = 0; first < draws; first += chunk) {
    generator->fill({first, chunk}, std::as_writable_bytes(std::span(host)));
    cuda::copy_to_device(input.data() + first, host.data(), chunk * sizeof(host[0]), stream.get());
    stream.synchronize();
  }
  expect_sum(input.data(), draws, 1064985537u);
}

TEST_F(CudaReduceLadderOf, OnlyReduceAddSyncIsRefusedWhereItIsMissing) {
  int major = 0;
  cuda::check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0),
              "asking the GPU");
  EXPECT_TRUE(major >= 8 || !has_reduce_add_sync());
  for (const ElementType type : {ElementType::u32, ElementType::f32, ElementType::f64})
    for (const Variant& variant : reduce_variants(type)) {
      const bool here = type == ElementType::u32 && has_reduce_add_sync();
      const bool refused = variant.name == "reduce-add-sync" && !here;
      EXPECT_EQ(variant.refusal.empty(), !refused) << variant.name << " " << name_of(type);
      EXPECT_EQ(variant.start == nullptr, refused) << variant.name << " " << name_of(type);
    }
}

TEST_F(CudaReduceLadderOf, OtherTypesAreRefused) {
  EXPECT_THROW(reduce_variants(ElementType::i8), Error);
  EXPECT_THROW(reduce_variants(ElementType::f16), Error);
}

}  // namespace
}  // namespace warpfold::bench::ladder
