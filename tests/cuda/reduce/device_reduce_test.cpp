#include "cuda/reduce/device_reduce.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "core/engine/backend.hpp"
#include "core/numeric/special_values.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/engines/backend.hpp"
#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/drive_engines.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::size_t chunk_bytes = 4 * 256 * 16;  ///< bytes of one thread block

constexpr ReduceNeeds sum_only{.sum = true};
constexpr ReduceNeeds extrema_only{.extrema = true};
constexpr ReduceNeeds moments{.sum = true, .squares = true, .extrema = true};
constexpr ReduceNeeds all_needs[] = {{}, sum_only, extrema_only, moments, everything};

/// A reduction by one DeviceReduce after the other of the same kind finds what the last one left.
class ArrayReduce {
 public:
  Accumulator operator()(const std::vector<std::byte>& bytes, ElementFormat format,
                         ReduceNeeds needs, std::uint64_t first_index, std::size_t offset = 0) {
    const std::size_t shift = offset * size_of(format.type);
    const DeviceBuffer memory(bytes.size() + shift);
    copy_to_device(memory.data() + shift, bytes.data(), bytes.size(), stream_.get());
    reduce_.start(memory.data() + shift, bytes.size() / size_of(format.type), format, needs,
                  first_index, stream_.get());
    return reduce_.result();
  }

 private:
  Stream stream_;
  DeviceReduce reduce_;
};

class CudaDeviceReduce : public ::testing::TestWithParam<ElementType> {
 protected:
  void SetUp() override {
    if (const std::string missing = missing_gpu(); !missing.empty()) GTEST_SKIP() << missing;
    cpu_ = cpu::make_backend(2);
    gpu_ = std::make_unique<ArrayReduce>();
  }

  Accumulator reference(const std::vector<std::byte>& bytes, ElementFormat format,
                        ReduceNeeds needs, std::uint64_t first_index) {
    return needed_parts(reduce_all(*cpu_, {format, {}, 1 << 20}, needs, bytes, first_index), needs);
  }

  std::vector<std::byte> bytes(Sample kind, std::size_t count,
                               ByteOrder order = native_byte_order) const {
    return visit_element_type(GetParam(), [&](auto element) {
      return bytes_of(sample<decltype(element)>(kind, count, count + 1), order);
    });
  }

  std::unique_ptr<Backend> cpu_;
  std::unique_ptr<ArrayReduce> gpu_;
};

TEST_P(CudaDeviceReduce, EqualsTheCpuForEveryLengthAndAlignment) {
  const ElementFormat format{GetParam(), native_byte_order};
  const std::size_t chunk = chunk_bytes / size_of(GetParam());
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{31}, std::size_t{32},
                                 std::size_t{33}, std::size_t{1000}, chunk - 1, chunk, chunk + 1,
                                 3 * chunk + 77, 8 * chunk, 8 * chunk + 1, 700 * chunk + 3}) {
    const auto elements = bytes(Sample::non_finite, size);
    for (const ReduceNeeds& needs : all_needs) {
      const Accumulator expected = reference(elements, format, needs, 5);
      for (const std::size_t offset : {std::size_t{0}, std::size_t{1}, std::size_t{3}})
        expect_equal((*gpu_)(elements, format, needs, 5, offset), expected,
                     "size " + std::to_string(size) + ", offset " + std::to_string(offset));
    }
  }
}

TEST_P(CudaDeviceReduce, EqualsTheCpuForEverySampleAndByteOrder) {
  const std::size_t size = is_emulated() ? 60007 : 300007;
  for (const Sample kind : all_samples) {
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big}) {
      const auto elements = bytes(kind, size, order);
      for (const ReduceNeeds& needs : all_needs)
        expect_equal((*gpu_)(elements, {GetParam(), order}, needs, 0),
                     reference(elements, {GetParam(), order}, needs, 0),
                     "sample " + std::to_string(static_cast<int>(kind)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaDeviceReduce, ::testing::ValuesIn(all_element_types),
                         type_name);

/// Magnitudes in the orders that windows of exact additions have to follow, or fail to.
enum class Course {
  ascending,
  descending,
  sixty_orders,
  spike_first,
  fill_values,
  mostly_zero,
  ends
};

constexpr Course all_courses[] = {Course::ascending,   Course::descending,  Course::sixty_orders,
                                  Course::spike_first, Course::fill_values, Course::mostly_zero,
                                  Course::ends};

constexpr std::size_t course_length = 1200011;

template <class T>
T maximum() {
  const auto infinity_bits = std::bit_cast<Word<T>>(element_of<T>(infinity));
  return std::bit_cast<T>(static_cast<Word<T>>(infinity_bits - 1));
}

template <class T>
T course_element(Course course, std::size_t i, std::mt19937_64& random) {
  const double significand = 1.0 + std::ldexp(static_cast<double>(random() >> 12), -52);
  const double x = random() % 2 == 0 ? significand : -significand;
  const int orders = std::is_same_v<T, double> ? 2040 : (std::is_same_v<T, Float16> ? 38 : 270);
  const int lowest = std::is_same_v<T, double> ? -1022 : (std::is_same_v<T, Float16> ? -24 : -149);
  const int step = static_cast<int>(i * static_cast<std::size_t>(orders) / course_length);
  switch (course) {
    case Course::ascending:
      return element_of<T>(std::ldexp(x, lowest + step));
    case Course::descending:
      return element_of<T>(std::ldexp(x, lowest + orders - 1 - step));
    case Course::sixty_orders:
      return element_of<T>(std::ldexp(x, static_cast<int>(random() % 60) - 30));
    case Course::spike_first:
      return element_of<T>(std::ldexp(x, i < course_length / 2 ? lowest + orders - 1 : 0));
    case Course::fill_values:
      return element_of<T>(random() % 10 == 0 ? std::ldexp(1.0, lowest + orders - 1) : x);
    case Course::mostly_zero:
      return element_of<T>(random() % 50 == 0 ? x : (random() % 2 == 0 ? 0.0 : -0.0));
    case Course::ends:
      break;
  }
  switch (random() % 4) {
    case 0:
      return maximum<T>();
    case 1:
      return negative_of(maximum<T>());
    case 2:
      return std::bit_cast<T>(Word<T>{1});
    default:
      return element_of<T>(x);
  }
}

template <class T>
std::vector<std::byte> course(Course course) {
  std::mt19937_64 random(static_cast<unsigned>(course));
  std::vector<T> elements(course_length);
  for (std::size_t i = 0; i < elements.size(); ++i)
    elements[i] = course_element<T>(course, i, random);
  return bytes_of(elements);
}

class CudaDeviceReduceOfFloats : public CudaDeviceReduce {
 protected:
  void TearDown() override { kernels::set_fp64_use(kernels::Fp64Use::by_device); }

  /// Compares reductions of all kinds, with FP64 arithmetic and without.
  void expect_equal_both_ways(const std::vector<std::byte>& elements, ElementFormat format,
                              const std::string& what) {
    for (const ReduceNeeds& needs : all_needs) {
      const Accumulator expected = reference(elements, format, needs, 0);
      for (const auto use : {kernels::Fp64Use::never, kernels::Fp64Use::always}) {
        kernels::set_fp64_use(use);
        expect_equal(ArrayReduce()(elements, format, needs, 0), expected,
                     what + ", use of FP64 " + std::to_string(static_cast<int>(use)));
      }
    }
  }
};

TEST_P(CudaDeviceReduceOfFloats, EqualsTheCpuForEverySampleWithFp64AndWithout) {
  for (const Sample kind : all_samples)
    expect_equal_both_ways(bytes(kind, is_emulated() ? 60007 : 300007),
                           {GetParam(), native_byte_order},
                           "sample " + std::to_string(static_cast<int>(kind)));
}

TEST_P(CudaDeviceReduceOfFloats, EqualsTheCpuWhereverMagnitudesGo) {
  const ElementFormat format{GetParam(), native_byte_order};
  for (const Course kind : all_courses) {
    const auto elements = visit_element_type(GetParam(), [&](auto element) {
      if constexpr (is_floating_element<decltype(element)>)
        return course<decltype(element)>(kind);
      else
        return std::vector<std::byte>();
    });
    expect_equal_both_ways(elements, format, "course " + std::to_string(static_cast<int>(kind)));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, CudaDeviceReduceOfFloats,
                         ::testing::Values(ElementType::f16, ElementType::bf16, ElementType::f32,
                                           ElementType::f64),
                         type_name);

using CudaLongReduce = GpuTest;

/// `count` bytes of `value`, but the last, which is `last`; aligned to a byte only.
void expect_bytes_reduce(std::uint64_t count, std::uint8_t value, std::uint8_t last) {
  const Stream stream;
  const DeviceBuffer memory(count + 1);
  std::byte* elements = memory.data() + 1;
  fill_bytes(elements, value, count - 1, stream.get());
  copy_to_device(elements + count - 1, &last, 1, stream.get());
  DeviceReduce reduce;
  reduce.start(elements, count, {ElementType::u8, native_byte_order}, everything, 0, stream.get());
  const Accumulator result = reduce.result();
  Accumulator expected = Accumulator::empty();
  expected.count = static_cast<std::int64_t>(count);
  const uint128 sum = uint128{count - 1} * value + last;
  expected.sum.add(sum, 0);
  expected.absolute.add(sum, 0);
  expected.squares.add(uint128{count - 1} * value * value + uint128{last} * last, 0);
  expected.normalize();
  expected.minimum = {value, 0, value};
  expected.maximum = {~std::uint64_t{last}, last == value ? 0 : count - 1, last};
  expect_equal(result, expected, std::to_string(count) + " bytes");
}

TEST_F(CudaLongReduce, CountsBeyond32Bits) {
  expect_bytes_reduce((std::uint64_t{1} << 27) + 3, 255, 255);
  expect_bytes_reduce((std::uint64_t{1} << 32) + 12345, 255, 255);
  expect_bytes_reduce((std::uint64_t{1} << 32) + 12345, 7, 200);
}

TEST_F(CudaLongReduce, TakesWhatOneLaunchCannot) {
  const Stream stream;
  const std::uint64_t count = (std::uint64_t{1} << 28) + 5;
  const DeviceBuffer memory(count);
  fill_bytes(memory.data(), 3, count, stream.get());
  ReduceState state(1);
  kernels::reduce({.elements = memory.data(),
                   .count = count,
                   .format = {ElementType::u8, native_byte_order},
                   .needs = everything,
                   .first_index = 0,
                   .totals = state.totals(),
                   .block_extrema = state.block_extrema(),
                   .blocks = 1},
                  stream.get());
  kernels::ReduceTotals totals;
  copy_to_host(&totals, state.totals(), sizeof(totals), stream.get());
  stream.synchronize();
  ExactSum sum{};
  sum.add(uint128{3} * count, 0);
  sum.normalize();
  totals.total.normalize();
  EXPECT_EQ(totals.total.count, static_cast<std::int64_t>(count));
  EXPECT_EQ(limbs_of(totals.total.sum), limbs_of(sum));
  EXPECT_EQ(totals.total.minimum.index, 0u);
}

TEST_F(CudaLongReduce, ReducesOfSeveralStreamsDoNotMeet) {
  constexpr std::uint64_t count = 1 << 20;
  constexpr int reduces = 6;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<std::unique_ptr<DeviceReduce>> running;
  const DeviceBuffer memory(count * reduces);
  for (int i = 0; i < reduces; ++i) {
    streams.push_back(std::make_unique<Stream>());
    running.push_back(std::make_unique<DeviceReduce>());
  }
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < reduces; ++i) {
      std::byte* elements = memory.data() + static_cast<std::uint64_t>(i) * count;
      const auto at = static_cast<std::size_t>(i);
      fill_bytes(elements, i + 1, count, streams[at]->get());
      running[at]->start(elements, count, {ElementType::i8, native_byte_order}, everything, 0,
                         streams[at]->get());
    }
    for (int i = 0; i < reduces; ++i) {
      ExactSum sum{};
      sum.add(uint128{count} * static_cast<unsigned>(i + 1), 0);
      sum.normalize();
      EXPECT_EQ(limbs_of(running[static_cast<std::size_t>(i)]->result().sum), limbs_of(sum));
    }
  }
}

TEST_F(CudaLongReduce, ReducesOneAfterTheOtherOnSeveralStreams) {
  constexpr std::uint64_t most = 300000;
  const Stream streams[3];
  const DeviceBuffer memory(most);
  fill_bytes(memory.data(), 3, most, streams[0].get());
  streams[0].synchronize();
  DeviceReduce reduce;
  for (unsigned i = 0; i < 300; ++i) {
    const std::uint64_t count = 1 + i * std::uint64_t{997};
    const ReduceNeeds& needs = all_needs[i % std::size(all_needs)];
    reduce.start(memory.data(), count, {ElementType::i8, native_byte_order}, needs, 0,
                 streams[i % 3].get());
    const Accumulator result = reduce.result();
    ExactSum sum{};
    if (needs.sum) sum.add(uint128{3} * count, 0);
    sum.normalize();
    EXPECT_EQ(result.count, static_cast<std::int64_t>(count));
    EXPECT_EQ(limbs_of(result.sum), limbs_of(sum));
    EXPECT_EQ(result.maximum.index, needs.extrema ? 0u : no_index);
  }
}

}  // namespace
}  // namespace warpfold::cuda
