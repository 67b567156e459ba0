#include "cuda/scan/one_pass_scan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/runtime/device.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/scan_registers.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"
#include "warpfold/core/element_type.hpp"
#include "warpfold/core/error.hpp"
#include "warpfold/core/scan_operation.hpp"

namespace warpfold::cuda {
namespace {

struct ScanTypes {
  ElementType input;
  ElementType output;
  ScanOperation operation;
};

/// The name of a test for each operation and its types.
std::string types_name(const ::testing::TestParamInfo<ScanTypes>& info) {
  const ScanTypes& types = info.param;
  return std::string(name_of(types.operation)) + "_" + std::string(name_of(types.input)) + "_" +
         std::string(name_of(types.output));
}

std::vector<ScanTypes> supported_types() {
  std::vector<ScanTypes> types;
  for (const ElementType input : all_element_types)
    for (const ElementType output : all_element_types)
      for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max})
        if (OnePassScan::supports(input, output, operation))
          types.push_back({input, output, operation});
  return types;
}

/// Integers of all bits; whole numbers whose sums floats hold exactly; for extrema floats of every
/// kind.
std::vector<std::byte> elements_of(const ScanTypes& types, std::uint64_t count) {
  return visit_element_type(types.input, [&](auto element) {
    using T = decltype(element);
    const bool sum = types.operation == ScanOperation::sum;
    auto elements =
        sample<T>(sum || count % 2 == 0 ? Sample::uniform : Sample::non_finite, count, count);
    std::mt19937_64 random(count);
    if (is_floating(types.input))
      for (T& x : elements)
        if (sum || random() % 8 == 0)
          x = element_of<T>(static_cast<double>(static_cast<int>(random() % 3) - 1));
    return bytes_of(elements);
  });
}

/// An array in device memory that begins `offset` bytes behind an aligned address, and ends with
/// its memory.
class DeviceBytes {
 public:
  DeviceBytes(std::uint64_t bytes, std::uint64_t offset)
      : memory_(offset + bytes), offset_(offset) {}

  std::byte* data() const { return memory_.data() + offset_; }

  void fill_with(const std::vector<std::byte>& bytes, const Stream& stream) const {
    copy_to_device(data(), bytes.data(), bytes.size(), stream.get());
  }

  std::vector<std::byte> bytes(const Stream& stream) const {
    std::vector<std::byte> copy(memory_.size() - offset_);
    copy_to_host(copy.data(), data(), copy.size(), stream.get());
    stream.synchronize();
    return copy;
  }

 private:
  DeviceBuffer memory_;
  std::uint64_t offset_;
};

/// The cpu backend's prefixes of the elements after a small one.
struct Expectation {
  std::vector<std::byte> before;  ///< nothing or an element of the output type
  std::vector<std::byte> prefixes;
};

Expectation expected(Backend& cpu, const ScanTypes& types, const std::vector<std::byte>& elements,
                     bool exclusive, bool with_carry) {
  const ScanSpec spec{{types.input, native_byte_order},
                      types.operation,
                      exclusive,
                      types.output,
                      OverflowPolicy::wrap};
  Accumulator before = Accumulator::empty();
  Expectation expectation;
  if (with_carry) {
    before.sum.add(int128{3});
    before.minimum = before.maximum = visit_element_type(types.input, [](auto element) {
      element = element_of<decltype(element)>(3.0);
      return Extremum{ordered_key(element), 0, value_bits(element)};
    });
    before.maximum.key = ~before.maximum.key;
    expectation.before = visit_element_type(types.output, [](auto element) {
      return bytes_of(std::vector{element_of<decltype(element)>(3.0)});
    });
  }
  const std::uint64_t slab = std::uint64_t{1} << 22;
  const auto engine = cpu.make_scan_engine(packed_plan(spec.input, slab, slab), spec);
  expectation.prefixes = scan_all(*engine, elements, spec, slab, before).bytes;
  return expectation;
}

class OnePassScanOf : public ::testing::TestWithParam<ScanTypes> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
    cpu_ = cpu::make_backend(2);
    stream_ = std::make_unique<Stream>();
  }

  std::uint64_t input_bytes() const { return size_of(GetParam().input); }
  std::uint64_t output_bytes() const { return size_of(GetParam().output); }

  /// Both arrays so many elements behind an aligned address.
  std::vector<std::byte> scanned(OnePassScan& scan, const std::vector<std::byte>& elements,
                                 bool exclusive, const Expectation& expectation,
                                 std::uint64_t input_offset, std::uint64_t output_offset) {
    const std::uint64_t count = elements.size() / input_bytes();
    const DeviceBytes input(elements.size(), input_offset * input_bytes());
    const DeviceBytes output(count * output_bytes(), output_offset * output_bytes());
    input.fill_with(elements, *stream_);
    fill_bytes(output.data(), 0xa5, count * output_bytes(), stream_->get());
    scan.start(input.data(), output.data(), count, exclusive,
               expectation.before.empty() ? nullptr : expectation.before.data(), stream_->get());
    return output.bytes(*stream_);
  }

  std::vector<std::byte> scanned_in_place(OnePassScan& scan, const std::vector<std::byte>& elements,
                                          bool exclusive, const Expectation& expectation) {
    const DeviceBytes array(elements.size(), input_bytes());
    array.fill_with(elements, *stream_);
    scan.start(array.data(), array.data(), elements.size() / input_bytes(), exclusive,
               expectation.before.empty() ? nullptr : expectation.before.data(), stream_->get());
    return array.bytes(*stream_);
  }

  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<Stream> stream_;
};

/// Some tiles, and as many that each multiprocessor takes more than two.
std::vector<std::uint64_t> sizes_about(std::uint64_t size) {
  const auto rounds = static_cast<std::uint64_t>(9 * multiprocessors() / 4 + 3);
  return {0, 1, 31, 32, 33, size - 1, size, size + 1, 7 * size + 5, rounds * size + 77};
}

TEST_P(OnePassScanOf, EqualsTheCpuBackend) {
  const auto [in, out, operation] = GetParam();
  const std::uint64_t tile_elements =
      kernels::scan_registers_resident(in, out, operation).tile_elements;
  OnePassScan scan(in, out, operation);
  int variant = 0;
  for (const std::uint64_t size : sizes_about(tile_elements)) {
    const auto elements = elements_of(GetParam(), size);
    for (const bool exclusive : {false, true}) {
      const bool with_carry = ++variant % 3 != 0;
      const auto expectation = expected(*cpu_, GetParam(), elements, exclusive, with_carry);
      const std::string what = std::to_string(size) + (exclusive ? " exclusive" : "");
      EXPECT_TRUE(scanned(scan, elements, exclusive, expectation, 0, 0) == expectation.prefixes)
          << what;
      const std::uint64_t lane = 16 / output_bytes();
      EXPECT_TRUE(scanned(scan, elements, exclusive, expectation, lane + 1, 1) ==
                  expectation.prefixes)
          << what << " off by one";
      if (input_bytes() == output_bytes()) {
        EXPECT_TRUE(scanned_in_place(scan, elements, exclusive, expectation) ==
                    expectation.prefixes)
            << what << " in place";
      }
    }
  }
}

TEST_P(OnePassScanOf, TakesArraysThatLieEachInItsOwnWay) {
  const auto [in, out, operation] = GetParam();
  const std::uint64_t tile_elements =
      kernels::scan_registers_resident(in, out, operation).tile_elements;
  OnePassScan scan(in, out, operation);
  const auto elements = elements_of(GetParam(), 3 * tile_elements + 11);
  const auto expectation = expected(*cpu_, GetParam(), elements, false, true);
  for (const std::uint64_t input_offset : {0u, 1u, 2u, 3u, 5u})
    for (const std::uint64_t output_offset : {0u, 1u, 6u})
      EXPECT_TRUE(scanned(scan, elements, false, expectation, input_offset, output_offset) ==
                  expectation.prefixes)
          << input_offset << " and " << output_offset;
}

INSTANTIATE_TEST_SUITE_P(Types, OnePassScanOf, ::testing::ValuesIn(supported_types()), types_name);

using OnePassScanOfMany = OnePassScanOf;

TEST_P(OnePassScanOfMany, EqualsTheCpuBackend) {
  const auto [in, out, operation] = GetParam();
  const auto elements = elements_of(GetParam(), (std::uint64_t{1} << 27) + 3);
  const auto expectation = expected(*cpu_, GetParam(), elements, false, true);
  OnePassScan scan(in, out, operation);
  EXPECT_TRUE(scanned(scan, elements, false, expectation, 0, 0) == expectation.prefixes);
}

INSTANTIATE_TEST_SUITE_P(
    Types, OnePassScanOfMany,
    ::testing::Values(ScanTypes{ElementType::u32, ElementType::u32, ScanOperation::sum},
                      ScanTypes{ElementType::u8, ElementType::u64, ScanOperation::sum},
                      ScanTypes{ElementType::f64, ElementType::f64, ScanOperation::sum},
                      ScanTypes{ElementType::f32, ElementType::f32, ScanOperation::max}),
    types_name);

using OnePassScanTest = GpuTest;

TEST_F(OnePassScanTest, CountsBeyond32Bits) {
  constexpr std::uint64_t piece = std::uint64_t{1} << 28;
  constexpr std::uint64_t count = 17 * piece + 1001;
  constexpr std::uint64_t period = 251;
  const Stream stream;
  const DeviceBuffer array(count);
  std::vector<std::uint8_t> elements(piece + period);
  for (std::uint64_t i = 0; i < elements.size(); ++i)
    elements[i] = static_cast<std::uint8_t>(i % period);
  for (std::uint64_t first = 0; first < count; first += piece)
    copy_to_device(array.data() + first, elements.data() + first % period,
                   std::min(piece, count - first), stream.get());
  OnePassScan scan(ElementType::u8, ElementType::u8, ScanOperation::sum);
  scan.start(array.data(), array.data(), count, false, nullptr, stream.get());
  std::vector<std::uint8_t> prefixes(piece);
  std::uint8_t sum = 0;
  std::uint64_t wrong = 0;
  for (std::uint64_t first = 0; first < count; first += piece) {
    const std::uint64_t present = std::min(piece, count - first);
    copy_to_host(prefixes.data(), array.data() + first, present, stream.get());
    stream.synchronize();
    for (std::uint64_t i = 0; i < present; ++i) {
      sum = static_cast<std::uint8_t>(sum + elements[first % period + i]);
      if (prefixes[i] != sum) ++wrong;
    }
  }
  EXPECT_EQ(wrong, 0u);
}

template <class T>
std::vector<std::byte> sums_of(const std::vector<T>& elements, ElementType type) {
  const Stream stream;
  const DeviceBytes array(elements.size() * sizeof(T), 0);
  array.fill_with(bytes_of(elements), stream);
  OnePassScan scan(type, type, ScanOperation::sum);
  scan.start(array.data(), array.data(), elements.size(), false, nullptr, stream.get());
  return array.bytes(stream);
}

TEST_F(OnePassScanTest, FloatSumsAreTheSameBitsFromRunToRun) {
  const auto narrow = sample<float>(Sample::uniform, 5000011, 1);
  const auto wide = sample<double>(Sample::wide, 5000011, 2);
  const auto narrow_sums = sums_of(narrow, ElementType::f32);
  const auto wide_sums = sums_of(wide, ElementType::f64);
  for (int run = 0; run < 20; ++run) {
    EXPECT_TRUE(sums_of(narrow, ElementType::f32) == narrow_sums);
    EXPECT_TRUE(sums_of(wide, ElementType::f64) == wide_sums);
  }
}

TEST_F(OnePassScanTest, SmallerScansFollowLargerOnesInOneWorkspace) {
  const Stream stream;
  const std::uint64_t maximum = std::uint64_t{1} << (is_emulated() ? 21 : 24);
  const std::vector<std::uint32_t> ones(maximum, 1);
  const DeviceBytes input(maximum * 4, 0);
  input.fill_with(bytes_of(ones), stream);
  const DeviceBytes output(maximum * 4, 0);
  OnePassScan scan(ElementType::u32, ElementType::u32, ScanOperation::sum);
  for (const std::uint64_t size :
       {maximum, maximum / 100, std::uint64_t{5}, maximum / 3, maximum}) {
    const std::uint32_t before = 1000;
    scan.start(input.data(), output.data(), size, true, &before, stream.get());
    std::vector<std::uint32_t> prefixes(size);
    copy_to_host(prefixes.data(), output.data(), size * 4, stream.get());
    stream.synchronize();
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < size; ++i)
      if (prefixes[i] != before + i) ++wrong;
    EXPECT_EQ(wrong, 0u) << size;
  }
}

TEST(OnePassScanTypes, AreThoseThatKeepTheirTypeAndWidenedSumsOfIntegers) {
  using enum ElementType;
  EXPECT_TRUE(OnePassScan::supports(u8, u64, ScanOperation::sum));
  EXPECT_TRUE(OnePassScan::supports(i8, i32, ScanOperation::sum));
  EXPECT_TRUE(OnePassScan::supports(i32, u32, ScanOperation::sum));
  EXPECT_FALSE(OnePassScan::supports(u64, u32, ScanOperation::sum));
  EXPECT_FALSE(OnePassScan::supports(u8, u16, ScanOperation::sum));
  EXPECT_FALSE(OnePassScan::supports(u32, f64, ScanOperation::sum));
  EXPECT_FALSE(OnePassScan::supports(f16, f16, ScanOperation::sum));
  EXPECT_FALSE(OnePassScan::supports(f32, f64, ScanOperation::sum));
  EXPECT_TRUE(OnePassScan::supports(i8, i8, ScanOperation::min));
  EXPECT_FALSE(OnePassScan::supports(i8, i64, ScanOperation::min));
  EXPECT_FALSE(OnePassScan::supports(bf16, bf16, ScanOperation::max));
}

TEST_F(OnePassScanTest, RefusesWhatItCannotDo) {
  EXPECT_THROW(OnePassScan(ElementType::f16, ElementType::f16, ScanOperation::sum), Error);
}

TEST(LaunchEpochs, FollowOneAnotherAfterTheWorkspaceWasCleared) {
  LaunchEpochs epochs;
  const auto first = epochs.take(3);
  EXPECT_EQ(first.first, 1u);
  EXPECT_TRUE(first.needs_clearing);
  const auto second = epochs.take(1);
  EXPECT_EQ(second.first, 4u);
  EXPECT_FALSE(second.needs_clearing);
  EXPECT_EQ(epochs.take(1).first, 5u);
}

TEST(LaunchEpochs, BeginOverAgainWhereTheyWouldPassTheLast) {
  LaunchEpochs epochs;
  epochs.take(LaunchEpochs::last - 2);
  const auto last = epochs.take(2);
  EXPECT_EQ(last.first, LaunchEpochs::last - 1);
  EXPECT_FALSE(last.needs_clearing);
  const auto next = epochs.take(1);
  EXPECT_EQ(next.first, 1u);
  EXPECT_TRUE(next.needs_clearing);

  LaunchEpochs nearly;
  nearly.take(LaunchEpochs::last - 2);
  const auto too_many = nearly.take(3);
  EXPECT_EQ(too_many.first, 1u);
  EXPECT_TRUE(too_many.needs_clearing);
}

}  // namespace
}  // namespace warpfold::cuda
