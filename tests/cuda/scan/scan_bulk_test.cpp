#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <tuple>
#include <type_traits>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/scan/one_pass_kernels.hpp"
#include "cuda/scan/scan_types.hpp"
#include "cuda/support/gpu_test.hpp"

namespace warpfold::cuda {
namespace {

/// Such GPUs copy in bulk.
class BulkScanTest : public GpuTest {
 protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (IsSkipped()) return;
    if (kernels::scan_bulk_resident_blocks(ElementType::u8, ElementType::u8, ScanOperation::sum) ==
        0)
      GTEST_SKIP() << "the GPU has no bulk copies";
  }
};

/// Calls visitor(input element, output element), of the types that kernels scan.
template <class Visitor>
void visit_scan_types(const ScanTypes& types, Visitor&& visitor) {
  visit_element_type(types.input, [&](auto in) {
    visit_element_type(types.output, [&](auto out) {
      using In = decltype(in);
      using Out = decltype(out);
      if constexpr (std::is_arithmetic_v<In> && std::is_arithmetic_v<Out> &&
                    std::is_integral_v<In> == std::is_integral_v<Out> && sizeof(In) <= sizeof(Out))
        visitor(in, out);
    });
  });
}

std::vector<ScanTypes> all_scan_types() {
  std::vector<ScanTypes> all;
  for (const ElementType input : all_element_types)
    for (const ElementType output : all_element_types)
      for (const auto operation : {ScanOperation::sum, ScanOperation::min, ScanOperation::max})
        if (kernels::scan_supports(input, output, operation))
          all.push_back({input, output, operation});
  return all;
}

/// One after the other: sums modulo 2^64, of floats exactly as long as they are small integers; the
/// first of the least (greatest) elements, NaN after a NaN.
template <class Out>
class SerialScan {
 public:
  SerialScan(ScanOperation operation, Out before) : operation_(operation), value_(before) {}

  template <class In>
  void take(In element) {
    if (operation_ == ScanOperation::sum) {
      if constexpr (std::is_floating_point_v<Out>)
        value_ += static_cast<Out>(element);
      else
        value_ = static_cast<Out>(static_cast<std::uint64_t>(value_) +
                                  static_cast<std::uint64_t>(element));
    } else {
      const auto next = static_cast<Out>(element);
      const bool better = operation_ == ScanOperation::min ? next < value_ : next > value_;
      if (better || (is_nan(next) && !is_nan(value_))) value_ = next;
    }
  }

  Out value() const { return value_; }

 private:
  static bool is_nan(Out value) { return value != value; }

  ScanOperation operation_;
  Out value_;
};

template <class T>
T nothing_before(ScanOperation operation) {
  using Limits = std::numeric_limits<T>;
  if (operation == ScanOperation::sum) return T{0};
  if constexpr (Limits::has_infinity)
    return operation == ScanOperation::min ? Limits::infinity() : -Limits::infinity();
  else
    return operation == ScanOperation::min ? Limits::max() : Limits::lowest();
}

/// Integers of all bits; floats that are -1, 0 or 1, for extrema ever farther from 0, with zeros of
/// both signs.
template <class T>
std::vector<T> elements_to_scan(std::uint64_t count, ScanOperation operation) {
  std::mt19937_64 random(count + sizeof(T));
  std::vector<T> elements(count);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random();
    if constexpr (std::is_integral_v<T>) {
      elements[i] = static_cast<T>(bits >> 32 << 3 ^ bits);
    } else if (operation == ScanOperation::sum) {
      elements[i] = static_cast<T>(static_cast<int>(bits % 3) - 1);
    } else {
      const T size = i < count / 2 ? T{0} : static_cast<T>(bits % (i + 1));
      elements[i] = bits >> 63 == 0 ? size : -size;
    }
  }
  return elements;
}

/// An array in device memory that begins `offset` elements behind an aligned address and is the end
/// of its memory.
template <class T>
class DeviceArray {
 public:
  DeviceArray(const std::vector<T>& elements, std::uint64_t offset, const Stream& stream)
      : memory_((offset + elements.size()) * sizeof(T)), elements_(elements.size()) {
    data_ = reinterpret_cast<T*>(memory_.data()) + offset;
    copy_to_device(data_, elements.data(), elements.size() * sizeof(T), stream.get());
  }

  T* data() const { return data_; }

  std::vector<T> copy(const Stream& stream) const {
    std::vector<T> elements(elements_);
    copy_to_host(elements.data(), data_, elements.size() * sizeof(T), stream.get());
    stream.synchronize();
    return elements;
  }

 private:
  DeviceBuffer memory_;
  std::uint64_t elements_;
  T* data_;
};

class BulkScanner {
 public:
  /// By all thread blocks that the GPU holds, or by `max_blocks`.
  explicit BulkScanner(const ScanTypes& types, std::uint32_t max_blocks = ~0u)
      : types_(types),
        resident_blocks_(std::min(max_blocks, kernels::scan_bulk_resident_blocks(
                                                  types.input, types.output, types.operation))),
        workspace_(kernels::scan_workspace_bytes(resident_blocks_)) {
    fill_bytes(workspace_.data(), 0, workspace_.size(), stream_.get());
  }

  const Stream& stream() const { return stream_; }

  template <class In, class Out>
  void scan(const In* input, Out* output, std::uint64_t elements, bool exclusive, Out carry) {
    EXPECT_TRUE(kernels::scan_bulk_applies(types_.input, types_.output, input, output));
    kernels::ScanArguments arguments{input, output, elements, exclusive, 0, workspace_.data(),
                                     epoch_};
    std::memcpy(&arguments.carry, &carry, sizeof(carry));
    epoch_ += kernels::scan_bulk_epochs(types_.input, types_.output, types_.operation, elements,
                                        resident_blocks_);
    kernels::scan_bulk(types_.input, types_.output, types_.operation, arguments, resident_blocks_,
                       stream_.get());
  }

  /// Elements that all resident blocks together take in one round, so that sizes can be chosen.
  std::uint64_t round_elements() const {
    std::uint64_t elements = 1024;
    while (kernels::scan_bulk_epochs(types_.input, types_.output, types_.operation,
                                     32 * elements + 1, resident_blocks_) == 1)
      elements += 1024;
    return elements;
  }

 private:
  ScanTypes types_;
  std::uint32_t resident_blocks_;
  Stream stream_;
  DeviceBuffer workspace_;
  std::uint32_t epoch_ = 1;
};

template <class In, class Out>
std::vector<Out> serial_scan(const std::vector<In>& input, ScanOperation operation, bool exclusive,
                             Out before) {
  SerialScan<Out> serial(operation, before);
  std::vector<Out> prefixes;
  prefixes.reserve(input.size());
  for (const In element : input) {
    if (exclusive) prefixes.push_back(serial.value());
    serial.take(element);
    if (!exclusive) prefixes.push_back(serial.value());
  }
  return prefixes;
}

template <class T>
std::uint64_t first_difference(const std::vector<T>& a, const std::vector<T>& b) {
  const auto same_bits = [](const T& x, const T& y) { return std::memcmp(&x, &y, sizeof(T)) == 0; };
  const auto [place, other] = std::mismatch(a.begin(), a.end(), b.begin(), b.end(), same_bits);
  return static_cast<std::uint64_t>(place - a.begin());
}

class BulkScanOfTypes : public BulkScanTest, public ::testing::WithParamInterface<ScanTypes> {
 protected:
  template <class In, class Out>
  void expect_serial_result(BulkScanner& scanner, const std::vector<In>& input,
                            std::uint64_t offset, bool exclusive, Out before) {
    const Stream& stream = scanner.stream();
    const std::uint64_t count = input.size();
    const DeviceArray<In> device_input(input, offset, stream);
    const DeviceArray<Out> device_output(std::vector<Out>(count, Out{85}), offset, stream);
    scanner.scan(device_input.data(), device_output.data(), count, exclusive, before);
    const auto expected = serial_scan(input, GetParam().operation, exclusive, before);
    EXPECT_EQ(first_difference(device_output.copy(stream), expected), count)
        << count << " elements, offset " << offset << (exclusive ? ", exclusive" : "");
    EXPECT_EQ(first_difference(device_input.copy(stream), input), count);
    if constexpr (sizeof(In) == sizeof(Out)) {
      scanner.scan(device_input.data(), reinterpret_cast<Out*>(device_input.data()), count,
                   exclusive, before);
      const auto result = device_input.copy(stream);
      EXPECT_EQ(std::memcmp(result.data(), expected.data(), count * sizeof(Out)), 0)
          << count << " elements in place, offset " << offset;
    }
  }
};

TEST_P(BulkScanOfTypes, EqualsASerialScanAtAllSizesAndAlignments) {
  const ScanTypes types = GetParam();
  visit_scan_types(types, [&]<class In, class Out>(In, Out) {
    BulkScanner scanner(types);
    const std::uint64_t round = scanner.round_elements();
    std::vector<std::uint64_t> sizes{0, 1, 2, 15, 31, 32, 33};
    for (const std::uint64_t tile : {4096u, 6144u, 8192u, 12288u, 16384u, 32768u})
      sizes.insert(sizes.end(), {tile - 1, tile, tile + 1});
    sizes.insert(sizes.end(), {round + 1, 3 * round - 5});
    for (const std::uint64_t size : sizes) {
      const auto input = elements_to_scan<In>(size, types.operation);
      for (const std::uint64_t offset : {0u, 3u}) {
        const std::uint64_t common = sizeof(In) == sizeof(Out) ? offset : offset * 16;
        expect_serial_result<In, Out>(scanner, input, common, false,
                                      nothing_before<Out>(types.operation));
        expect_serial_result<In, Out>(scanner, input, common, true, Out{3});
      }
    }
  });
}

TEST_P(BulkScanOfTypes, UsesStagesAndAggregatesOverAndOver) {
  const ScanTypes types = GetParam();
  visit_scan_types(types, [&]<class In, class Out>(In, Out) {
    BulkScanner scanner(types, 3);
    const auto input = elements_to_scan<In>(35 * scanner.round_elements() - 5, types.operation);
    expect_serial_result<In, Out>(scanner, input, 0, false, nothing_before<Out>(types.operation));
    expect_serial_result<In, Out>(scanner, input, 0, true, Out{3});
  });
}

TEST_P(BulkScanOfTypes, WidensFromAndToPlacesThatShareABoundary) {
  const ScanTypes types = GetParam();
  visit_scan_types(types, [&]<class In, class Out>(In, Out) {
    if constexpr (sizeof(In) != sizeof(Out)) {
      BulkScanner scanner(types);
      const Stream& stream = scanner.stream();
      const auto input = elements_to_scan<In>(70001, types.operation);
      constexpr std::uint64_t lane = 16 / sizeof(Out);
      for (std::uint64_t offset = 1; offset < 16 / sizeof(In); offset += 3) {
        const DeviceArray<In> from(input, offset, stream);
        const DeviceArray<Out> to(std::vector<Out>(input.size()), offset % lane, stream);
        scanner.scan(from.data(), to.data(), input.size(), false, Out{1});
        EXPECT_EQ(to.copy(stream), serial_scan(input, types.operation, false, Out{1})) << offset;
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Cuda, BulkScanOfTypes, ::testing::ValuesIn(all_scan_types()), types_name);

/// Sizes for which the ring of aggregates is used over and over.
class BulkScanOfManyRounds : public BulkScanOfTypes {};

TEST_P(BulkScanOfManyRounds, EqualsASerialScan) {
  visit_scan_types(GetParam(), [&]<class In, class Out>(In, Out) {
    BulkScanner scanner(GetParam());
    const std::uint64_t size = (std::uint64_t{1} << 27) + 3;
    const auto input = elements_to_scan<In>(size, GetParam().operation);
    expect_serial_result<In, Out>(scanner, input, 1, false, Out{7});
  });
}

INSTANTIATE_TEST_SUITE_P(
    Cuda, BulkScanOfManyRounds,
    ::testing::Values(ScanTypes{ElementType::u16, ElementType::u16, ScanOperation::sum},
                      ScanTypes{ElementType::u32, ElementType::u32, ScanOperation::sum},
                      ScanTypes{ElementType::f64, ElementType::f64, ScanOperation::max}),
    types_name);

TEST(BulkScan, SupportsTheTypesOfOneDimension) {
  EXPECT_EQ(all_scan_types().size(), 16u + 12u + 8u + 2u + 20u);
  EXPECT_FALSE(kernels::scan_supports(ElementType::f16, ElementType::f16, ScanOperation::sum));
  EXPECT_FALSE(kernels::scan_supports(ElementType::f32, ElementType::f64, ScanOperation::sum));
  EXPECT_FALSE(kernels::scan_supports(ElementType::u8, ElementType::u32, ScanOperation::max));
}

TEST(BulkScan, AppliesWhereArraysReachABoundaryTogether) {
  const auto applies = [](ElementType in, ElementType out, std::uintptr_t input,
                          std::uintptr_t output) {
    return kernels::scan_bulk_applies(in, out, reinterpret_cast<const void*>(input),
                                      reinterpret_cast<const void*>(output));
  };
  EXPECT_TRUE(applies(ElementType::u32, ElementType::u32, 0x1004, 0x2004));
  EXPECT_FALSE(applies(ElementType::u32, ElementType::u32, 0x1004, 0x2008));
  EXPECT_TRUE(applies(ElementType::u8, ElementType::u64, 0x1000, 0x2000));
  EXPECT_FALSE(applies(ElementType::u8, ElementType::u64, 0x1000, 0x2008));
  EXPECT_TRUE(applies(ElementType::u8, ElementType::u64, 0x1001, 0x2008));
  EXPECT_TRUE(applies(ElementType::u8, ElementType::u64, 0x100e, 0x2000));
  EXPECT_FALSE(applies(ElementType::u16, ElementType::u32, 0x1002, 0x2000));
}

TEST_F(BulkScanTest, PropagatesNanFromItsPlaceOn) {
  for (const std::uint64_t place : {0u, 1u, 100u, 70000u, 99999u}) {
    BulkScanner scanner({ElementType::f32, ElementType::f32, ScanOperation::max});
    auto input = elements_to_scan<float>(100000, ScanOperation::max);
    input[place] = std::numeric_limits<float>::quiet_NaN();
    const DeviceArray<float> from(input, 1, scanner.stream());
    const DeviceArray<float> to(std::vector<float>(input.size()), 1, scanner.stream());
    scanner.scan(from.data(), to.data(), input.size(), false,
                 -std::numeric_limits<float>::infinity());
    const auto result = to.copy(scanner.stream());
    for (std::uint64_t i = 0; i < input.size(); ++i)
      ASSERT_EQ(std::isnan(result[i]), i >= place) << i;
  }
}

TEST_F(BulkScanTest, GivesTheSameFloatsInEveryRun) {
  BulkScanner scanner({ElementType::f64, ElementType::f64, ScanOperation::sum});
  std::mt19937_64 random(7);
  std::vector<double> input(20'000'003);
  for (double& element : input) element = std::uniform_real_distribution<double>(-1.0, 1.0)(random);
  const DeviceArray<double> from(input, 0, scanner.stream());
  std::vector<double> first;
  for (int run = 0; run < 4; ++run) {
    const DeviceArray<double> to(std::vector<double>(input.size()), 0, scanner.stream());
    scanner.scan(from.data(), to.data(), input.size(), false, 0.0);
    const auto result = to.copy(scanner.stream());
    if (run == 0) first = result;
    EXPECT_EQ(first_difference(result, first), input.size());
  }
}

/// The sum of the elements i % 251 of the indices below `count`, modulo 256.
std::uint8_t sum_of_period(std::uint64_t count) {
  constexpr std::uint64_t period = 251;
  const std::uint64_t rest = count % period;
  return static_cast<std::uint8_t>(count / period * (period * (period - 1) / 2) +
                                   rest * (rest + 1) / 2 - rest);
}

TEST_F(BulkScanTest, ScansMoreThanTwoToThe32Elements) {
  constexpr std::uint64_t count = (std::uint64_t{1} << 32) + 12345;
  constexpr std::uint64_t chunk = 251 << 20;
  BulkScanner scanner({ElementType::u8, ElementType::u8, ScanOperation::sum});
  const cudaStream_t stream = scanner.stream().get();
  const DeviceBuffer array(count);
  std::vector<std::uint8_t> host(chunk);
  for (std::uint64_t i = 0; i < chunk; ++i) host[i] = static_cast<std::uint8_t>(i % 251);
  for (std::uint64_t at = 0; at < count; at += chunk)
    copy_to_device(array.data() + at, host.data(), std::min(chunk, count - at), stream);
  auto* elements = reinterpret_cast<std::uint8_t*>(array.data());
  scanner.scan(elements, elements, count, false, std::uint8_t{0});
  for (std::uint64_t at = 0; at < count; at += chunk) {
    const std::uint64_t size = std::min(chunk, count - at);
    copy_to_host(host.data(), array.data() + at, size, stream);
    scanner.stream().synchronize();
    std::uint8_t sum = sum_of_period(at);
    std::uint64_t wrong = 0;
    for (std::uint64_t i = 0; i < size; ++i) {
      sum = static_cast<std::uint8_t>(sum + i % 251);
      wrong += host[i] != sum;
    }
    EXPECT_EQ(wrong, 0u) << "from " << at;
  }
}

}  // namespace
}  // namespace warpfold::cuda
