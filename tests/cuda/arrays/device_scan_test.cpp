#include "cuda/arrays/device_scan.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/both_backends.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::size_t array_sizes[] = {1, 33, tile, 5 * tile + 77};

struct Outcome {
  Accumulator total;
  ScanResult result;
};

Outcome on_cpu(Backend& cpu, const ScanSpec& spec, const std::vector<std::byte>& elements,
               const Accumulator& before) {
  const std::uint64_t count = elements.size() / size_of(spec.input.type);
  const auto engine = cpu.make_scan_engine(packed_plan(spec.input, count, count), spec);
  load_block(*engine, 0, elements, size_of(spec.input.type), engine->block_elements());
  Outcome outcome{engine->total(0, 0, count), {}};
  outcome.result.overflow = engine->scan(0, 0, count, before);
  append_output(*engine, 0, count, engine->block_elements(), outcome.result.bytes);
  return outcome;
}

/// The arrays in device memory begin so many elements behind aligned addresses.
struct Places {
  std::uint64_t input;
  std::uint64_t output;
  bool in_place;
};

Outcome on_gpu(DeviceScan& scan, const ScanSpec& spec, const std::vector<std::byte>& elements,
               const Accumulator& before, const Places& places) {
  const std::uint64_t input_bytes = size_of(spec.input.type);
  const std::uint64_t output_bytes = size_of(spec.output);
  const std::uint64_t count = elements.size() / input_bytes;
  const Stream stream;
  const DeviceBuffer input_memory(places.input * input_bytes + elements.size());
  const DeviceBuffer output_memory((places.output + count) * output_bytes);
  std::byte* const input = input_memory.data() + places.input * input_bytes;
  std::byte* const output =
      places.in_place ? input : output_memory.data() + places.output * output_bytes;
  copy_to_device(input, elements.data(), elements.size(), stream.get());
  Outcome outcome{scan.total(input, count, stream.get()), {}};
  outcome.result.overflow = scan.scan(input, output, count, before, stream.get());
  outcome.result.bytes.resize(count * output_bytes);
  copy_to_host(outcome.result.bytes.data(), output, count * output_bytes, stream.get());
  stream.synchronize();
  return outcome;
}

void expect_same_outcome(const Outcome& gpu, const Outcome& cpu, const ScanSpec& spec,
                         const std::string& what) {
  EXPECT_EQ(gpu.total.count, cpu.total.count) << what;
  EXPECT_EQ(gpu.total.nan_count, cpu.total.nan_count) << what;
  if (spec.operation == ScanOperation::sum) {
    EXPECT_EQ(limbs_of(gpu.total.sum), limbs_of(cpu.total.sum)) << what;
    EXPECT_EQ(gpu.total.positive_infinities, cpu.total.positive_infinities) << what;
    EXPECT_EQ(gpu.total.negative_infinities, cpu.total.negative_infinities) << what;
  } else if (spec.operation == ScanOperation::min) {
    EXPECT_EQ(fields_of(gpu.total.minimum), fields_of(cpu.total.minimum)) << what;
  } else {
    EXPECT_EQ(fields_of(gpu.total.maximum), fields_of(cpu.total.maximum)) << what;
  }
  EXPECT_EQ(gpu.result.overflow, cpu.result.overflow) << what;
  EXPECT_TRUE(gpu.result.overflow || gpu.result.bytes == cpu.result.bytes) << what;
}

class DeviceScanOf : public BothBackends {};

std::vector<ElementType> some_outputs_of(ElementType input, ScanOperation operation) {
  std::vector<ElementType> outputs = {default_scan_output(input, operation), ElementType::f64};
  if (is_integer(input)) {
    outputs.push_back(ElementType::i16);
    outputs.push_back(ElementType::u32);
  }
  return outputs;
}

TEST_P(DeviceScanOf, EqualsTheCpuBackendWhereverTheArraysLie) {
  constexpr Places all_places[] = {{0, 0, false}, {1, 1, false}, {1, 0, false}, {1, 0, true}};
  for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max}) {
    for (const ElementType output : some_outputs_of(GetParam(), operation)) {
      int variant = 0;
      for (const Sample kind : all_samples) {
        for (const std::size_t size : array_sizes) {
          ++variant;
          const ScanSpec spec{{GetParam(), native_byte_order},
                              operation,
                              variant % 2 == 0,
                              output,
                              variant % 3 == 0 ? OverflowPolicy::wrap : OverflowPolicy::error};
          const auto elements = visit_element_type(GetParam(), [&](auto element) {
            return bytes_of(sample<decltype(element)>(kind, size, size));
          });
          const auto before = variant % 4 < 2
                                  ? Accumulator::empty()
                                  : on_cpu(*cpu_, spec, elements, Accumulator::empty()).total;
          Places places = all_places[variant % 4];
          places.in_place = places.in_place && size_of(GetParam()) == size_of(output);
          DeviceScan scan(spec, true);
          expect_same_outcome(on_gpu(scan, spec, elements, before, places),
                              on_cpu(*cpu_, spec, elements, before), spec,
                              std::string(name_of(operation)) + " to " +
                                  std::string(name_of(output)) + ", sample " +
                                  std::to_string(static_cast<int>(kind)) + ", size " +
                                  std::to_string(size));
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DeviceScanOf, ::testing::ValuesIn(all_element_types), type_name);

using DeviceScanTest = GpuTest;

ScanSpec same_type_sum(ElementType type) {
  return {{type, native_byte_order}, ScanOperation::sum, false, type, OverflowPolicy::error};
}

TEST_F(DeviceScanTest, SumsOfIntegersAreRoundedOnceIntoNarrowerFloats) {
  ScanSpec spec = same_type_sum(ElementType::i64);
  spec.output = ElementType::f32;
  const auto elements = bytes_of(std::vector{std::int64_t{1} << 62, std::int64_t{1} << 38,
                                             std::int64_t{1}, std::int64_t{-2}, std::int64_t{1}});
  DeviceScan scan(spec, true);
  const Outcome outcome = on_gpu(scan, spec, elements, Accumulator::empty(), {0, 0, false});
  const std::vector<float> nearest = {0x1p62f, 0x1p62f, 0x1p62f + 0x1p39f, 0x1p62f, 0x1p62f};
  EXPECT_EQ(outcome.result.as<float>(), nearest);
}

TEST_F(DeviceScanTest, FastSumsOfWholeNumbersAreExact) {
  const auto cpu = cpu::make_backend(2);
  std::vector<float> numbers(3000017);
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<float>(static_cast<int>(i * 7 % 11) - 5);
  const ScanSpec spec = same_type_sum(ElementType::f32);
  const auto elements = bytes_of(numbers);
  Accumulator before = Accumulator::empty();
  before.sum.add(0x1p20);
  before.sum.normalize();
  DeviceScan scan(spec, false);
  expect_same_outcome(on_gpu(scan, spec, elements, before, {3, 2, false}),
                      on_cpu(*cpu, spec, elements, before), spec, "fast");
}

TEST_F(DeviceScanTest, FastSumsBeginWithWhatIsBeforeRoundedOnce) {
  const ScanSpec spec = same_type_sum(ElementType::f32);
  DeviceScan scan(spec, false);
  const auto first_after = [&](std::initializer_list<double> parts, auto change) {
    Accumulator before = Accumulator::empty();
    for (const double part : parts) before.sum.add(part);
    before.sum.normalize();
    change(before);
    return on_gpu(scan, spec, bytes_of(std::vector{-0.0f}), before, {0, 0, false})
        .result.as<float>()[0];
  };
  const auto nothing = [](Accumulator&) {};
  EXPECT_EQ(first_after({1.0, 0x1p-24}, nothing), 1.0f);
  EXPECT_EQ(first_after({1.0, 0x1p-24, 0x1p-80}, nothing), 1.0f + 0x1p-23f);
  EXPECT_EQ(first_after({1.0, 0x1p-24, -0x1p-80}, nothing), 1.0f);
  EXPECT_EQ(first_after({-1.0, -0x1p-24, -0x1p-80}, nothing), -1.0f - 0x1p-23f);
  EXPECT_EQ(first_after({0x1p128}, nothing), infinity);
  EXPECT_EQ(first_after({1.0}, [](Accumulator& before) { before.positive_infinities = 2; }),
            infinity);
  EXPECT_EQ(first_after({1.0}, [](Accumulator& before) { before.negative_infinities = 1; }),
            -infinity);
  const float nan = first_after({1.0}, [](Accumulator& before) {
    before.positive_infinities = 1;
    before.negative_infinities = 1;
  });
  EXPECT_NE(nan, nan);
}

TEST_F(DeviceScanTest, UnknownArithmeticIsAnError) {
  constexpr const char* variable = "WARPFOLD_EXACT_SCAN";
  const char* const value = std::getenv(variable);
  const std::optional<std::string> before =
      value ? std::optional<std::string>(value) : std::nullopt;
  setenv(variable, "integer", 1);
  std::string message;
  try {
    DeviceScan scan(same_type_sum(ElementType::f64), true);
  } catch (const Error& error) {
    message = error.what();
  }
  before ? setenv(variable, before->c_str(), 1) : unsetenv(variable);
  EXPECT_EQ(message,
            "cannot use WARPFOLD_EXACT_SCAN='integer': unknown arithmetic. Choose integers or "
            "doubles.");
}

TEST_F(DeviceScanTest, OneScanTakesLargerAndSmallerArrays) {
  const auto cpu = cpu::make_backend(2);
  const ScanSpec spec = same_type_sum(ElementType::i64);
  DeviceScan scan(spec, true);
  for (const std::size_t size : {100u, 1000003u, 7u, 300000u}) {
    const auto elements = bytes_of(sample<std::int64_t>(Sample::uniform, size, size));
    expect_same_outcome(on_gpu(scan, spec, elements, Accumulator::empty(), {0, 0, false}),
                        on_cpu(*cpu, spec, elements, Accumulator::empty()), spec,
                        std::to_string(size));
  }
}

TEST_F(DeviceScanTest, NoElementsHaveNoTotalAndNoPrefixes) {
  const Stream stream;
  DeviceScan scan(same_type_sum(ElementType::u32), true);
  expect_equal(scan.total(nullptr, 0, stream.get()), Accumulator::empty(), "nothing");
  EXPECT_EQ(scan.scan(nullptr, nullptr, 0, Accumulator::empty(), stream.get()), std::nullopt);
}

TEST_F(DeviceScanTest, RefusesSpecsThatCannotBe) {
  ScanSpec integers = same_type_sum(ElementType::f32);
  integers.output = ElementType::i32;
  EXPECT_THROW(DeviceScan(integers, true), Error);
  EXPECT_THROW(DeviceScan(same_type_sum(ElementType::f16), false), Error);
  ScanSpec swapped = same_type_sum(ElementType::f32);
  swapped.input.order = ByteOrder::big;
  EXPECT_THROW(DeviceScan(swapped, false), Error);
}

}  // namespace
}  // namespace warpfold::cuda
