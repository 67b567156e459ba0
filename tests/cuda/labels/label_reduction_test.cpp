#include "cuda/labels/label_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "core/results/axis_totals.hpp"
#include "core/results/reducing.hpp"
#include "cuda/runtime/stream.hpp"
#include "cuda/support/accumulator_equality.hpp"
#include "cuda/support/gpu_test.hpp"
#include "cuda/support/sample_data.hpp"

namespace warpfold::cuda {
namespace {

using kernels::LabelSlab;
using warpfold::testing::everything;

/// An integer of many words, added to word by word: the reference shares no code with the sums.
class LongInteger {
 public:
  explicit LongInteger(std::size_t words) : words_(words) {}

  void add(uint128 magnitude, int bit, bool negative) {
    std::vector<std::uint32_t> addend(words_.size());
    for (int i = 0; i < 128; ++i)
      if ((magnitude >> i & 1) != 0) {
        const auto at = static_cast<std::size_t>(bit + i);
        addend[at / 32] |= 1u << at % 32;
      }
    std::uint64_t carry = negative ? 1 : 0;
    for (std::size_t i = 0; i < words_.size(); ++i) {
      carry += std::uint64_t{words_[i]} + (negative ? ~addend[i] : addend[i]);
      words_[i] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  /// As limbs of a normalized number: the top one has the sign.
  std::vector<std::int64_t> limbs() const {
    std::vector<std::int64_t> limbs(words_.begin(), words_.end());
    limbs.back() = static_cast<std::int32_t>(words_.back());
    return limbs;
  }

 private:
  std::vector<std::uint32_t> words_;
};

/// The totals that one label has.
struct Reference {
  std::int64_t count = 0;
  std::int64_t nan = 0;
  std::int64_t positive_infinities = 0;
  std::int64_t negative_infinities = 0;
  LongInteger sum{68};
  LongInteger absolute{68};
  LongInteger squares{136};
  std::uint64_t first_nan = no_index;
  std::uint64_t minimum_index = no_index;
  std::uint64_t maximum_index = no_index;
  double minimum = 0;
  double maximum = 0;
  int128 least = 0;
  int128 greatest = 0;

  void take(double value, std::uint64_t index) {
    ++count;
    if (std::isnan(value)) {
      ++nan;
      first_nan = std::min(first_nan, index);
      return;
    }
    improve(value, index, minimum, minimum_index, value < minimum);
    improve(value, index, maximum, maximum_index, value > maximum);
    if (std::isinf(value)) {
      ++(value > 0 ? positive_infinities : negative_infinities);
      return;
    }
    int exponent = 0;
    const double fraction = std::frexp(std::fabs(value), &exponent);
    const auto mantissa = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
    add(mantissa, exponent - 53, value < 0);
  }

  void take(int128 value, std::uint64_t index) {
    ++count;
    improve(value, index, least, minimum_index, value < least);
    improve(value, index, greatest, maximum_index, value > greatest);
    add(static_cast<std::uint64_t>(value < 0 ? -value : value), 0, value < 0);
  }

 private:
  template <class Value>
  static void improve(Value value, std::uint64_t index, Value& best, std::uint64_t& best_index,
                      bool better) {
    if (best_index == no_index || better || (value == best && index < best_index)) {
      best = value;
      best_index = index;
    }
  }

  /// Low bits of subnormal numbers are zero: nothing is lost.
  void add(std::uint64_t mantissa, int exponent, bool negative) {
    for (; mantissa != 0 && mantissa % 2 == 0; ++exponent) mantissa /= 2;
    if (mantissa == 0) return;
    sum.add(mantissa, exponent + 1088, negative);
    absolute.add(mantissa, exponent + 1088, false);
    squares.add(uint128{mantissa} * mantissa, 2 * exponent + 2176, false);
  }
};

template <class T>
void take(Reference& reference, T value, std::uint64_t index) {
  if constexpr (std::is_integral_v<T>)
    reference.take(int128{value}, index);
  else
    reference.take(static_cast<double>(value), index);
}

std::uint64_t bits_of(double value) { return std::bit_cast<std::uint64_t>(value); }

template <class T>
void expect_extremum(const Extremum& found, std::uint64_t index, double value, int128 integer,
                     const std::string& what) {
  EXPECT_EQ(found.index, index) << what;
  if (index == no_index) return;
  const std::uint64_t bits =
      std::is_integral_v<T> ? static_cast<std::uint64_t>(integer) : bits_of(value);
  EXPECT_EQ(found.bits, bits) << what;
}

template <class T>
void expect_label(const Accumulator& found, const Reference& expected, const ReduceNeeds& needs,
                  const std::string& what) {
  EXPECT_EQ(found.count, expected.count) << what;
  EXPECT_EQ(found.nan_count, expected.nan) << what;
  EXPECT_EQ(found.positive_infinities, expected.positive_infinities) << what;
  EXPECT_EQ(found.negative_infinities, expected.negative_infinities) << what;
  EXPECT_EQ(found.first_nan, expected.first_nan) << what;
  if (needs.sum) {
    EXPECT_EQ(limbs_of(found.sum), expected.sum.limbs()) << what;
  }
  if (needs.absolute) {
    EXPECT_EQ(limbs_of(found.absolute), expected.absolute.limbs()) << what;
  }
  if (needs.squares) {
    EXPECT_EQ(limbs_of(found.squares), expected.squares.limbs()) << what;
  }
  if (!needs.extrema) return;
  expect_extremum<T>(found.minimum, expected.minimum_index, expected.minimum, expected.least,
                     what + ", minimum");
  expect_extremum<T>(found.maximum, expected.maximum_index, expected.maximum, expected.greatest,
                     what + ", maximum");
}

/// Labels of places: how many there are, and how they lie.
enum class Labels { random, sorted, stripes, gaps };

std::vector<std::uint32_t> labels_of(Labels kind, std::uint64_t places, std::uint32_t labels,
                                     std::mt19937_64& random) {
  std::vector<std::uint32_t> numbers(places);
  for (std::uint64_t i = 0; i < places; ++i) {
    const auto any = static_cast<std::uint32_t>(random() % labels);
    if (kind == Labels::random) numbers[i] = any;
    if (kind == Labels::sorted) numbers[i] = static_cast<std::uint32_t>(i * labels / places);
    if (kind == Labels::stripes) numbers[i] = static_cast<std::uint32_t>(i / 7 % labels);
    if (kind == Labels::gaps) numbers[i] = random() % 3 == 0 ? no_label : any;
  }
  return numbers;
}

template <class T>
class DeviceCopy {
 public:
  explicit DeviceCopy(const std::vector<T>& values) : buffer_(values.size() * sizeof(T)) {
    const Stream stream;
    copy_to_device(buffer_.data(), values.data(), buffer_.size(), stream.get());
    stream.synchronize();
  }
  const T* data() const { return reinterpret_cast<const T*>(buffer_.data()); }

 private:
  DeviceBuffer buffer_;
};

/// Reduces slabs on the device and by the reference.
template <class T>
class LabelCase {
 public:
  LabelCase(std::uint32_t labels, const ReduceNeeds& needs, std::uint64_t capacity)
      : labels_(labels),
        needs_(needs),
        expected_(labels),
        reduction_(element_type_of<T>(), needs, capacity) {}

  /// `counting`: for each element, unless it is empty.
  void take(const std::vector<T>& elements, const std::vector<std::uint32_t>& numbers,
            const BoxIndices& indices, const std::vector<std::uint8_t>& counting = {}) {
    const DeviceCopy<T> device_elements(elements);
    const DeviceCopy<std::uint32_t> device_numbers(numbers);
    const DeviceCopy<std::uint8_t> device_counting(counting);
    LabelSlab slab{};
    slab.elements = reinterpret_cast<const std::byte*>(device_elements.data());
    slab.type = element_type_of<T>();
    if (!counting.empty()) slab.counting = reinterpret_cast<const bool*>(device_counting.data());
    slab.numbers = device_numbers.data();
    slab.places = numbers.size();
    slab.end = elements.size();
    for (const std::uint32_t number : numbers)
      if (number != no_label) slab.labels = std::max(slab.labels, std::uint64_t{number} + 1);
    slab.indices = indices;
    reduction_.take(slab, stream_.get());
    stream_.synchronize();
    for (std::uint64_t i = 0; i < elements.size(); ++i) {
      const std::uint32_t label = numbers[i % numbers.size()];
      if (label != no_label && (counting.empty() || counting[i] != 0))
        warpfold::cuda::take(expected_[label], elements[i], indices(i));
    }
  }

  void expect(const std::string& what) {
    AxisTotals totals(element_type_of<T>(), needs_, labels_);
    totals.merge(reduction_.finish(labels_, stream_.get()));
    for (std::uint32_t label = 0; label < labels_; ++label) {
      expect_label<T>(totals.accumulator(label), expected_[label], needs_,
                      what + ", label " + std::to_string(label));
      if (::testing::Test::HasFailure()) return;
    }
    expected_.assign(labels_, Reference());
  }

 private:
  std::uint32_t labels_;
  ReduceNeeds needs_;
  std::vector<Reference> expected_;
  LabelReduction reduction_;
  Stream stream_;
};

template <class T>
class CudaLabels : public GpuTest {
 protected:
  std::mt19937_64 random_{11};
};

using LabelTypes = ::testing::Types<float, double, std::int64_t, std::uint64_t>;

class LabelTypeNames {
 public:
  template <class T>
  static std::string GetName(int) {
    return std::string(name_of(element_type_of<T>()));
  }
};

TYPED_TEST_SUITE(CudaLabels, LabelTypes, LabelTypeNames);

TYPED_TEST(CudaLabels, ElementsOfEveryKind) {
  for (const Sample kind : all_samples) {
    LabelCase<TypeParam> labels(12, everything, 100);
    for (std::uint64_t slab = 0; slab < 2; ++slab)
      labels.take(sample<TypeParam>(kind, 3001, this->random_()),
                  labels_of(Labels::random, 3001, 12, this->random_), {.first = slab * 5000});
    labels.expect("kind " + std::to_string(static_cast<int>(kind)));
  }
}

TYPED_TEST(CudaLabels, LabelsOfEveryKind) {
  for (const Labels kind : {Labels::random, Labels::sorted, Labels::stripes, Labels::gaps}) {
    for (const std::uint32_t count : {1u, 5u, 300u, 3000u}) {
      LabelCase<TypeParam> labels(count, everything, count);
      labels.take(sample<TypeParam>(Sample::non_finite, 6000, this->random_()),
                  labels_of(kind, 6000, count, this->random_), {});
      labels.expect(std::to_string(static_cast<int>(kind)) + " of " + std::to_string(count));
    }
  }
}

TYPED_TEST(CudaLabels, LabelsThatElementsShare) {
  for (const std::uint64_t places : {1u, 3u, 100u, 256u, 1000u, 1001u}) {
    LabelCase<TypeParam> labels(9, everything, 5000);
    labels.take(sample<TypeParam>(Sample::uniform, 4000, this->random_()),
                labels_of(Labels::random, places, 9, this->random_), {.first = 1});
    labels.expect(std::to_string(places) + " places");
  }
}

TYPED_TEST(CudaLabels, ElementsThatAreLeftOut) {
  LabelCase<TypeParam> labels(40, everything, 40);
  std::vector<std::uint8_t> counting(5000);
  for (std::uint8_t& each : counting) each = this->random_() % 3 != 0;
  labels.take(sample<TypeParam>(Sample::non_finite, 5000, this->random_()),
              labels_of(Labels::stripes, 5000, 40, this->random_), {}, counting);
  std::ranges::fill(counting, std::uint8_t{0});
  labels.take(sample<TypeParam>(Sample::uniform, 5000, this->random_()),
              labels_of(Labels::stripes, 5000, 40, this->random_), {.first = 9000}, counting);
  labels.expect("left out");
}

TYPED_TEST(CudaLabels, FillsWhatIsNeeded) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    const ReduceNeeds needs{(bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0};
    LabelCase<TypeParam> labels(5, needs, 10);
    labels.take(sample<TypeParam>(Sample::wide, 700, this->random_()),
                labels_of(Labels::random, 700, 5, this->random_), {});
    labels.expect("needs " + std::to_string(bits));
  }
}

TYPED_TEST(CudaLabels, PlacesAreTheFirstOfEqualElementsInAnyOrderOfSlabs) {
  LabelCase<TypeParam> labels(3, everything, 3);
  BoxIndices indices{.dimensions = 2};
  indices.extent[0] = 30;
  indices.extent[1] = 40;
  indices.stride[0] = 100;
  indices.stride[1] = 2;
  for (const std::uint64_t first : {9000u, 0u, 20000u, 4000u}) {
    indices.first = first;
    std::vector<TypeParam> elements(1200);
    for (TypeParam& each : elements) each = static_cast<TypeParam>(this->random_() % 3);
    if constexpr (std::is_floating_point_v<TypeParam>)
      for (TypeParam& each : elements)
        if (this->random_() % 2 == 0) each = -each;
    labels.take(elements, labels_of(Labels::random, 1200, 3, this->random_), indices);
  }
  labels.expect("equal");
}

TYPED_TEST(CudaLabels, LabelsThatGrowInNumber) {
  LabelCase<TypeParam> labels(900, everything, 1000);
  for (const std::uint32_t count : {3u, 100u, 20u, 300u, 900u, 7u})
    labels.take(sample<TypeParam>(Sample::wide, 1200, this->random_()),
                labels_of(Labels::random, 1200, count, this->random_), {});
  labels.expect("growing");
}

TYPED_TEST(CudaLabels, ForgetsWhatItHasReturned) {
  LabelCase<TypeParam> labels(4, everything, 8);
  for (int turn = 0; turn < 3; ++turn) {
    if (turn != 1)
      labels.take(sample<TypeParam>(Sample::uniform, 500, this->random_()),
                  labels_of(Labels::random, 500, 4, this->random_), {});
    labels.expect("turn " + std::to_string(turn));
  }
}

TYPED_TEST(CudaLabels, GreatestElementsOfOneSign) {
  LabelCase<TypeParam> labels(2, everything, 2);
  const std::vector<TypeParam> greatest(2000, std::numeric_limits<TypeParam>::max());
  const std::vector<TypeParam> lowest(3000, std::numeric_limits<TypeParam>::lowest());
  labels.take(greatest, labels_of(Labels::random, 2000, 2, this->random_), {});
  labels.take(lowest, labels_of(Labels::sorted, 3000, 2, this->random_), {});
  labels.expect("greatest");
}

using FloatTypes = ::testing::Types<float, double>;

template <class T>
class CudaFloatLabels : public CudaLabels<T> {};

TYPED_TEST_SUITE(CudaFloatLabels, FloatTypes, LabelTypeNames);

/// Slabs whose elements are far greater or less than those before.
TYPED_TEST(CudaFloatLabels, WindowsThatMove) {
  constexpr int least = std::numeric_limits<TypeParam>::min_exponent;
  constexpr int greatest = std::numeric_limits<TypeParam>::max_exponent;
  LabelCase<TypeParam> labels(20, everything, 20);
  for (const int exponent :
       {0, 10, 13, 40, -3, -20, greatest - 1, 5, least, least + 30, least - 10, 0, greatest - 40}) {
    auto elements = sample<TypeParam>(Sample::uniform, 600, this->random_());
    for (TypeParam& each : elements) each = std::ldexp(each, exponent);
    labels.take(elements, labels_of(Labels::stripes, 600, 20, this->random_), {});
  }
  labels.expect("windows");
}

TYPED_TEST(CudaFloatLabels, ExponentsThatSpread) {
  constexpr int least = std::numeric_limits<TypeParam>::min_exponent - 30;
  constexpr int greatest = std::numeric_limits<TypeParam>::max_exponent;
  for (const int width : {5, 20, 30, 60, 80, 200}) {
    LabelCase<TypeParam> labels(6, everything, 6);
    for (const int top : {0, greatest, least + width, -400, 480, 600, -470}) {
      auto elements = sample<TypeParam>(Sample::uniform, 700, this->random_());
      for (TypeParam& each : elements)
        each = std::ldexp(
            each, std::clamp(top - static_cast<int>(this->random_() % static_cast<unsigned>(width)),
                             least, greatest));
      labels.take(elements, labels_of(Labels::random, 700, 6, this->random_), {});
    }
    labels.expect("width " + std::to_string(width));
  }
}

TYPED_TEST(CudaFloatLabels, NothingButNaNOrInfinities) {
  LabelCase<TypeParam> labels(7, everything, 7);
  const std::vector<TypeParam> nan(1000, std::numeric_limits<TypeParam>::quiet_NaN());
  std::vector<TypeParam> infinite(1000, std::numeric_limits<TypeParam>::infinity());
  for (std::size_t i = 0; i < infinite.size(); i += 3) infinite[i] = -infinite[i];
  labels.take(nan, labels_of(Labels::random, 1000, 5, this->random_), {.first = 50});
  labels.take(infinite, labels_of(Labels::random, 1000, 3, this->random_), {.first = 2000});
  labels.take(nan, labels_of(Labels::random, 1000, 6, this->random_), {.first = 10});
  labels.expect("NaN");
}

/// Elements of every exponent at places that the sample for the window does not have.
TYPED_TEST(CudaFloatLabels, ElementsOutsideTheWindow) {
  using Limits = std::numeric_limits<TypeParam>;
  constexpr int least = Limits::min_exponent - Limits::digits;
  constexpr std::uint64_t count = 3 * 4096;
  const TypeParam rare[] = {Limits::quiet_NaN(), -Limits::quiet_NaN(), Limits::infinity(),
                            -Limits::infinity(), TypeParam{-0.0}};
  for (const int window : {0, Limits::max_exponent, least + 8}) {
    LabelCase<TypeParam> labels(6, everything, 6);
    auto elements = sample<TypeParam>(Sample::uniform, count, this->random_());
    for (TypeParam& each : elements) each = std::ldexp(each, window);
    int exponent = least;
    for (std::uint64_t i = 1; i < count; i += 3) {
      const TypeParam fraction = this->random_() % 2 == 0 ? 1 : 2 - Limits::epsilon();
      elements[i] = std::ldexp(this->random_() % 2 == 0 ? fraction : -fraction, exponent);
      if (++exponent == Limits::max_exponent) exponent = least;
      if (i % 10 == 0) elements[i + 1] = rare[i / 10 % std::size(rare)];
    }
    labels.take(elements, labels_of(Labels::random, count, 6, this->random_), {});
    labels.expect("window " + std::to_string(window));
  }
}

TYPED_TEST(CudaFloatLabels, ZerosOfBothSigns) {
  LabelCase<TypeParam> labels(30, everything, 30);
  std::vector<TypeParam> zeros(1000);
  for (TypeParam& each : zeros)
    if (this->random_() % 2 == 0) each = -each;
  labels.take(zeros, labels_of(Labels::random, 1000, 30, this->random_), {.first = 5});
  labels.expect("zeros");
}

/// More than a launch takes, and than digits do before they are folded.
TYPED_TEST(CudaFloatLabels, LongSlabs) {
  if (is_emulated()) GTEST_SKIP() << "takes minutes";
  constexpr std::uint64_t count = 5 * kernels::most_launched / 2;
  constexpr std::uint32_t mantissa = 0xffffff;
  const std::vector<TypeParam> elements(count, static_cast<TypeParam>(mantissa));
  std::vector<std::uint32_t> numbers(count, 1);
  numbers.back() = 0;
  LabelReduction reduction(element_type_of<TypeParam>(), {.sum = true, .squares = true}, 2);
  const DeviceCopy<TypeParam> device_elements(elements);
  const DeviceCopy<std::uint32_t> device_numbers(numbers);
  LabelSlab slab{};
  slab.elements = reinterpret_cast<const std::byte*>(device_elements.data());
  slab.type = element_type_of<TypeParam>();
  slab.numbers = device_numbers.data();
  slab.places = slab.end = count;
  slab.labels = 2;
  const Stream stream;
  constexpr std::uint64_t turns = kernels::most_unnormalized / count + 2;
  for (std::uint64_t turn = 0; turn < turns; ++turn) reduction.take(slab, stream.get());
  AxisTotals totals(element_type_of<TypeParam>(), {.sum = true, .squares = true}, 2);
  totals.merge(reduction.finish(2, stream.get()));
  for (const std::uint64_t label : {0u, 1u}) {
    const std::uint64_t times = label == 0 ? turns : turns * (count - 1);
    LongInteger sum(68);
    sum.add(uint128{mantissa} * times, 1088, false);
    LongInteger squares(136);
    squares.add(uint128{mantissa} * mantissa * times, 2176, false);
    const Accumulator found = totals.accumulator(label);
    EXPECT_EQ(found.count, static_cast<std::int64_t>(times));
    EXPECT_EQ(limbs_of(found.sum), sum.limbs());
    EXPECT_EQ(limbs_of(found.squares), squares.limbs());
  }
}

}  // namespace
}  // namespace warpfold::cuda
