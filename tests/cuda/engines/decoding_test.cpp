#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/scan/scan_spec.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_decodings.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::size_t decoded_sizes[] = {0, 1, 31, 32, 33, 4096, 4097, 3 * 4096 + 5, 300007};

class CudaDecoding : public BothBackends {
 protected:
  /// test(sample decoding) of the parameter's type.
  template <class Test>
  static void with_filters(Test&& test) {
    visit_element_type(GetParam(), [&](auto element) {
      for (const auto& sample : filters<decltype(element)>()) test(sample);
    });
  }

  template <class Test>
  static void with_unpackings(Test&& test) {
    visit_element_type(GetParam(), [&](auto element) {
      test(unpacking<decltype(element), float>());
      test(unpacking<decltype(element), double>());
    });
  }
};

/// Places in what was kept become indices of the elements.
void give_indices(Accumulator& reduce, const std::vector<std::uint64_t>& indices) {
  for (Extremum* extremum : {&reduce.minimum, &reduce.maximum})
    if (extremum->seen()) extremum->index = indices[extremum->index];
  if (reduce.first_nan != no_index) reduce.first_nan = indices[reduce.first_nan];
}

template <class T, class Value>
void expect_reduces(Backend& gpu, Backend& cpu, const SampleDecoding<T, Value>& sample,
                    const std::vector<T>& elements, ByteOrder order) {
  constexpr std::uint64_t first_index = std::uint64_t{1} << 40;
  const StagingPlan plan{{element_type_of<T>(), order}, sample.decoding, 70001};
  const Accumulator reduced =
      reduce_all(gpu, plan, everything, bytes_of(elements, order), first_index);
  const auto kept = kept_of(sample, elements, first_index);
  Accumulator expected =
      reduce_all(cpu, {{element_type_of<Value>()}, {}, 70001}, everything, bytes_of(kept.values));
  give_indices(expected, kept.indices);
  expect_equal(reduced, expected, sample.name + ", size " + std::to_string(elements.size()));
}

TEST_P(CudaDecoding, ReducesWhatIsKept) {
  const auto test = [&]<class T, class Value>(const SampleDecoding<T, Value>& decoding) {
    for (const Sample kind : {Sample::uniform, Sample::non_finite, Sample::subnormal})
      for (const std::size_t size : decoded_sizes)
        expect_reduces(*gpu_, *cpu_, decoding, sample<T>(kind, size, size + 1),
                       size % 2 == 0 ? ByteOrder::little : ByteOrder::big);
  };
  with_filters(test);
  with_unpackings(test);
}

TEST_P(CudaDecoding, ReducesWithLittleMemory) {
  with_filters([&]<class T>(const SampleDecoding<T>& decoding) {
    const auto elements = sample<T>(Sample::uniform, 400000, 3);
    const auto gpu = make_backend_with(std::uint64_t{1} << 20);
    expect_reduces(*gpu, *cpu_, decoding, elements, native_byte_order);
  });
}

/// The elements as the operation is to meet them.
template <class T, class Value>
std::vector<Value> with_identities(const SampleDecoding<T, Value>& sample,
                                   const std::vector<T>& elements, ScanOperation operation) {
  std::vector<Value> values(elements.size());
  std::ranges::transform(elements, values.begin(), [&](T element) {
    return sample.selects(element) ? sample.value(element) : scan_identity<Value>(operation);
  });
  return values;
}

template <class T, class Value>
void expect_scans(Backend& gpu, Backend& cpu, const SampleDecoding<T, Value>& sample,
                  const std::vector<T>& elements, ScanOperation operation) {
  const ByteOrder order = elements.size() % 2 == 0 ? ByteOrder::little : ByteOrder::big;
  const ElementType value_type = element_type_of<Value>();
  const ScanSpec spec{{element_type_of<T>(), order},
                      operation,
                      elements.size() % 3 == 0,
                      default_scan_output(value_type, operation),
                      OverflowPolicy::wrap};
  ScanSpec plain_spec = spec;
  plain_spec.input = {value_type};
  const auto engine =
      gpu.make_scan_engine(packed_plan(spec.input, 2 * tile, 5 * tile, 1, sample.decoding), spec);
  const auto plain_engine =
      cpu.make_scan_engine(packed_plan(plain_spec.input, 2 * tile, 5 * tile), plain_spec);
  const auto scanned = scan_all(*engine, bytes_of(elements, order), spec, 2 * tile);
  const auto expected = scan_all(
      *plain_engine, bytes_of(with_identities(sample, elements, operation)), plain_spec, 2 * tile);
  EXPECT_TRUE(scanned.bytes == expected.bytes)
      << sample.name << ", size " << elements.size() << ", " << name_of(operation);
}

TEST_P(CudaDecoding, ScansLeftOutElementsAsTheIdentity) {
  const auto test = [&]<class T, class Value>(const SampleDecoding<T, Value>& decoding) {
    for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max})
      for (const std::size_t size : {std::size_t{1}, std::size_t{4097}, std::size_t{7 * tile + 6}})
        expect_scans(*gpu_, *cpu_, decoding, sample<T>(Sample::non_finite, size, size), operation);
  };
  with_filters(test);
  with_unpackings(test);
}

INSTANTIATE_TEST_SUITE_P(Cuda, CudaDecoding, ::testing::ValuesIn(all_element_types), type_name);

}  // namespace
}  // namespace warpfold::cuda
