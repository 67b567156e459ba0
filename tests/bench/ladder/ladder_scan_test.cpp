#include <gtest/gtest.h>

#include <vector>

#include "bench/ladder/ladder.hpp"
#include "bench/ladder/ladder_arrays.hpp"
#include "bench/ladder/ladder_pattern.hpp"
#include "core/values/generated_elements.hpp"

namespace warpfold::bench::ladder {
namespace {

std::vector<std::int32_t> random_elements(std::uint64_t count) {
  const generated::RandomBits random(count);
  std::vector<std::int32_t> elements(count);
  for (std::uint64_t i = 0; i < count; ++i) elements[i] = static_cast<std::int32_t>(random(i));
  return elements;
}

std::vector<std::int32_t> prefix_sums(const std::vector<std::int32_t>& elements) {
  std::vector<std::int32_t> sums;
  sums.reserve(elements.size());
  std::uint32_t sum = 0;
  for (const std::int32_t element : elements)
    sums.push_back(static_cast<std::int32_t>(sum += static_cast<std::uint32_t>(element)));
  return sums;
}

/// Runs a variant in scratch memory that holds anything.
void scan(const Variant& variant, const void* input, std::uint64_t elements, void* output) {
  const std::uint64_t scratch_bytes = variant.scratch_bytes(elements);
  const cuda::DeviceBuffer scratch(scratch_bytes);
  const cuda::Stream stream;
  if (scratch_bytes != 0) cuda::fill_bytes(scratch.data(), 0xff, scratch_bytes, stream.get());
  variant.start(input, elements, output, scratch.data(), stream.get());
  stream.synchronize();
}

void expect_prefix_sums(std::uint64_t size) {
  const auto elements = random_elements(size);
  const auto expected = prefix_sums(elements);
  const GuardedArray<std::int32_t> input(elements);
  GuardedArray<std::int32_t> output(size);
  for (const Variant& variant : scan_variants()) {
    output.poison();
    scan(variant, input.data(), size, output.data());
    EXPECT_TRUE(output.read() == expected) << variant.name << " of " << size;
  }
}

using CudaScanLadder = cuda::GpuTest;

TEST_F(CudaScanLadder, HasNineVariantsAndRefusesNone) {
  const auto variants = scan_variants();
  EXPECT_EQ(variants.size(), 9u);
  for (const Variant& variant : variants) EXPECT_EQ(variant.refusal, "") << variant.name;
}

TEST_F(CudaScanLadder, FewElementsHaveTheirPrefixSums) {
  for (const std::uint64_t size : small_sizes) expect_prefix_sums(size);
}

TEST_F(CudaScanLadder, ManyElementsHaveTheirPrefixSums) {
  for (const std::uint64_t size : large_sizes) expect_prefix_sums(size);
}

TEST_F(CudaScanLadder, MoreElementsThan32BitsCountHaveTheirPrefixSums) {
  if (const auto missing = missing_memory(huge_size * 9); !missing.empty()) GTEST_SKIP() << missing;
  const GuardedArray<std::uint32_t> input(huge_size);
  GuardedArray<std::uint32_t> output(huge_size);
  const cuda::Stream stream;
  fill_pattern(input.data(), huge_size, stream.get());
  stream.synchronize();
  for (const Variant& variant : scan_variants()) {
    output.poison();
    scan(variant, input.data(), huge_size, output.data());
    const cuda::DeviceBuffer mismatches(sizeof(unsigned long long));
    cuda::fill_bytes(mismatches.data(), 0, mismatches.size(), stream.get());
    count_mismatches(output.data(), huge_size,
                     reinterpret_cast<unsigned long long*>(mismatches.data()), stream.get());
    unsigned long long count = 0;
    cuda::copy_to_host(&count, mismatches.data(), sizeof(count), stream.get());
    stream.synchronize();
    EXPECT_EQ(count, 0u) << variant.name;
  }
}

}  // namespace
}  // namespace warpfold::bench::ladder
