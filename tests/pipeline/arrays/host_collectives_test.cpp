#include "warpfold/host_collectives.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "core/numeric/special_values.hpp"
#include "pipeline/arrays/device_array_suite.hpp"

namespace warpfold {
namespace {

class HostArrays {
 public:
  explicit HostArrays(const mpi::Communicator& communicator) : host_(communicator.get()) {}

  static std::string missing() { return ""; }

  template <class T>
  Summary reduce(const std::vector<T>& mine, const ArrayReduceOptions& options) {
    return host_.reduce(array_of(mine.data(), mine.size()), options);
  }

  template <class Out, class T>
  std::vector<Out> scan(const std::vector<T>& mine, const ArrayScanOptions& options) {
    std::vector<Out> prefixes(mine.size());
    host_.scan(array_of(mine.data(), mine.size()), prefixes.data(), options);
    return prefixes;
  }

  HostCollectives& collectives() { return host_; }

 private:
  HostCollectives host_;
};

INSTANTIATE_TYPED_TEST_SUITE_P(OnTheHost, DeviceArraysOfRanks, HostArrays);

constexpr double least = std::numeric_limits<double>::denorm_min();
constexpr double greatest = std::numeric_limits<double>::max();

class HostCollectivesOfRanks : public DeviceArraysOfRanks<HostArrays> {
 protected:
  HostCollectives& host() { return arrays_->collectives(); }

  template <class T>
  std::vector<T> my_part(const std::vector<T>& whole) const {
    return part_of(whole, mine(uneven_cut(whole.size(), ranks())));
  }

  /// The sum of a whole that ranks share, many of which have nothing.
  template <class T>
  Value sum(const std::vector<T>& whole) {
    const std::vector<T> part = my_part(whole);
    return host().sums({{array_of(part.data(), part.size())}}).front();
  }

  template <class T>
  Value dot(const std::vector<T>& x, const std::vector<T>& y) {
    const std::vector<T> a = my_part(x);
    const std::vector<T> b = my_part(y);
    return host().sums({{array_of(a.data(), a.size()), array_of(b.data(), b.size())}}).front();
  }
};

bool is_nan(const Value& value) { return std::isnan(std::get<double>(value)); }

TEST_F(HostCollectivesOfRanks, SumsCancelExactly) {
  EXPECT_EQ(sum<double>({1e300, 1.0, 1e-300, -1e300, -1.0}), Value(1e-300));
  EXPECT_EQ(sum<double>({1.0, 0x1p-53, 0x1p-106}), Value(1.0 + 0x1p-52));
  EXPECT_EQ(sum<double>({1.0, 0x1p-53}), Value(1.0));
  EXPECT_EQ(sum<float>({16777216.0f, 1.0f, 1.0f, 0x1p-140f, -16777216.0f}), Value(2.0));
}

TEST_F(HostCollectivesOfRanks, SumsOfSubnormalsAndOfNumbersThatOverflowInBetween) {
  EXPECT_EQ(sum<double>({least, least, least}), Value(3 * least));
  EXPECT_EQ(sum<double>({greatest, greatest, least, -greatest, -greatest}), Value(least));
  EXPECT_EQ(sum<double>({greatest, greatest}), Value(infinity));
  EXPECT_EQ(sum<float>({0x1p-149f, 0x1p-149f}), Value(0x1p-148));
}

TEST_F(HostCollectivesOfRanks, SumsOfWhatIsNotFinite) {
  EXPECT_EQ(sum<double>({1.0, infinity, 2.0, -greatest}), Value(infinity));
  EXPECT_EQ(sum<double>({-infinity, 1.0}), Value(-infinity));
  EXPECT_TRUE(is_nan(sum<double>({infinity, 1.0, -infinity})));
  EXPECT_TRUE(is_nan(sum<float>({1.0f, std::nanf(""), 1.0f})));
}

TEST_F(HostCollectivesOfRanks, SumsOfNothing) {
  EXPECT_EQ(sum<double>({}), Value(0.0));
  EXPECT_EQ(sum<std::int64_t>({}), Value(int128{0}));
  EXPECT_EQ(dot<double>({}, {}), Value(0.0));
  EXPECT_TRUE(host().sums({}).empty());
}

TEST_F(HostCollectivesOfRanks, SumsOfIntegersBeyondTheirType) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(sum<std::int64_t>({most, most, 3}), Value(2 * int128{most} + 3));
  EXPECT_EQ(sum<std::int32_t>({-2147483647, -2147483647, 5}), Value(int128{-4294967289}));
}

TEST_F(HostCollectivesOfRanks, SumsOfManyNumbersAreThoseOfIntegersRoundedOnce) {
  // Multiples of 2^-40, whose sum an integer of 128 bits holds.
  const auto numbers = made_up<std::int64_t>(100003, 11);
  std::vector<double> whole;
  int128 exact = 0;
  for (const std::int64_t number : numbers) {
    whole.push_back(std::ldexp(static_cast<double>(number >> 11), -40));
    exact += number >> 11;
  }
  EXPECT_EQ(sum(whole), Value(std::ldexp(static_cast<double>(exact), -40)));
}

TEST_F(HostCollectivesOfRanks, ProductsAreNotRounded) {
  // (1 + 2^-30)^2 - (1 + 2^-29) == 2^-60
  const double x = 1.0 + 0x1p-30;
  EXPECT_EQ(dot<double>({x, 1.0 + 0x1p-29}, {x, -1.0}), Value(0x1p-60));
  EXPECT_EQ(dot<float>({16777215.0f, -1.0f}, {16777215.0f, 16777216.0f}),
            Value(16777215.0 * 16777215.0 - 16777216.0));
}

TEST_F(HostCollectivesOfRanks, ProductsBeyondDoubles) {
  EXPECT_EQ(dot<double>({1e300, 3.0, 1e300}, {1e300, 5.0, -1e300}), Value(15.0));
  EXPECT_EQ(dot<double>({1e300}, {1e300}), Value(infinity));
  EXPECT_EQ(dot<double>({least, least}, {0.5, 0.5}), Value(least));
  EXPECT_EQ(dot<double>(std::vector<double>(20, 0x1p-600), std::vector<double>(20, 0x1p-475)),
            Value(10 * least));
}

TEST_F(HostCollectivesOfRanks, ProductsOfWhatIsNotFinite) {
  EXPECT_EQ(dot<double>({infinity, 1.0}, {2.0, 1.0}), Value(infinity));
  EXPECT_EQ(dot<double>({-1.0, 1.0}, {infinity, 1.0}), Value(-infinity));
  EXPECT_TRUE(is_nan(dot<double>({infinity, 1.0}, {0.0, 1.0})));
  EXPECT_TRUE(is_nan(dot<float>({1.0f, 1.0f}, {std::nanf(""), 1.0f})));
  EXPECT_EQ(dot<float>({1.0f, HUGE_VALF}, {1.0f, -1.0f}), Value(-infinity));
}

TEST_F(HostCollectivesOfRanks, ProductsOfManyNumbersAreThoseOfIntegersRoundedOnce) {
  const auto numbers = made_up<std::int64_t>(50021, 12);
  std::vector<double> x;
  std::vector<double> y;
  std::vector<std::int32_t> i;
  std::vector<std::int32_t> j;
  int128 exact = 0;
  int128 exact32 = 0;
  for (const std::int64_t number : numbers) {
    const std::int64_t a = number >> 11;
    const std::int64_t b = (number >> 13) * 3;
    x.push_back(std::ldexp(static_cast<double>(a), 20));
    y.push_back(std::ldexp(static_cast<double>(b), -70));
    exact += int128{a} * b;
    i.push_back(static_cast<std::int32_t>(number));
    j.push_back(static_cast<std::int32_t>(number >> 32));
    exact32 += int128{i.back()} * j.back();
  }
  EXPECT_EQ(dot(x, y), Value(std::ldexp(static_cast<double>(exact), -50)));
  EXPECT_EQ(dot(i, j), Value(exact32));
}

TEST_F(HostCollectivesOfRanks, ProductsOfIntegersOf64Bits) {
  constexpr auto lowest = std::numeric_limits<std::int64_t>::lowest();
  const int128 square = int128{lowest} * lowest;
  EXPECT_EQ(dot<std::int64_t>({lowest, lowest, lowest}, {lowest, lowest, -(lowest + 1)}),
            Value(square - int128{lowest}));
  const std::vector<std::int64_t> many(8, lowest);
  EXPECT_EQ(error_of([&] { dot(many, many); }),
            "a sum of integer products exceeds 128 bits. Sum smaller numbers, or floating-point "
            "ones.");
}

TEST_F(HostCollectivesOfRanks, ManyFieldsAtOnce) {
  const std::vector<double> x = my_part(made_up<double>(30011, 13));
  const std::vector<float> y = my_part(made_up<float>(177, 14));
  const std::vector<std::int32_t> z = my_part(made_up<std::int32_t>(30011, 15));
  const std::vector<Field> fields = {{array_of(x.data(), x.size())},
                                     {array_of(y.data(), y.size()), array_of(y.data(), y.size())},
                                     {array_of(z.data(), z.size())},
                                     {array_of(x.data(), x.size()), array_of(x.data(), x.size())}};
  std::vector<Value> each;
  for (const Field& field : fields) each.push_back(host().sums({field}).front());
  EXPECT_EQ(host().sums(fields), each);
  EXPECT_EQ(each[0], sum(made_up<double>(30011, 13)));
}

TEST_F(HostCollectivesOfRanks, MasksLeaveElementsOut) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> x;
  std::vector<std::uint8_t> mask;
  double wet = 0;
  for (int i = 0; i < 40000; ++i) {
    const bool counts = i % 7 != 0 && i / 20000 == 1;
    x.push_back(counts ? i : nan);
    mask.push_back(counts ? static_cast<std::uint8_t>(1 + i % 255) : 0);
    wet += counts ? i : 0;
  }
  const std::vector<double> mine = my_part(x);
  const std::vector<std::uint8_t> selected = my_part(mask);
  const Array array = array_of(mine.data(), mine.size());
  const std::vector<double> ones(mine.size(), 1.0);
  EXPECT_EQ(host().sums({{array, {}, selected.data()},
                         {array, array_of(ones.data(), ones.size()), selected.data()}}),
            (std::vector<Value>{wet, wet}));
  const ArrayReduceOptions options{
      {Statistic::count, Statistic::min, Statistic::argmin, Statistic::argmax}, {}};
  const Summary summary = host().reduce(array, options, selected.data());
  EXPECT_EQ(value_of(summary, Statistic::count),
            Value(int128{std::ranges::count_if(mask, [](int m) { return m; })}));
  EXPECT_EQ(value_of(summary, Statistic::min), Value(20000.0));
  EXPECT_EQ(value_of(summary, Statistic::argmin), Value(int128{20000}));
  EXPECT_EQ(value_of(summary, Statistic::argmax), Value(int128{39999}));
  EXPECT_TRUE(is_nan(host().reduce(array, {{Statistic::sum}, {}}).front().second));
}

TEST_F(HostCollectivesOfRanks, ScanInPlace) {
  for (const bool exclusive : {false, true}) {
    ArrayScanOptions options = scan_of(ScanOperation::sum, exclusive);
    const auto numbers = made_up<std::int32_t>(50021, 16);
    std::vector<std::int64_t> integers(numbers.begin(), numbers.end());
    std::vector<double> floats(numbers.begin(), numbers.end());
    // Full width: nothing shorter holds these prefixes.
    for (std::size_t i = 0; i < floats.size(); ++i) floats[i] *= i % 2 == 0 ? 1e-200 : 1e200;
    std::vector<std::int64_t> running(integers.size());
    std::int64_t total = 0;
    for (std::size_t i = 0; i < integers.size(); ++i) {
      running[i] = exclusive ? total : total + integers[i];
      total += integers[i];
    }
    std::vector<std::int64_t> mine = my_part(integers);
    host().scan(array_of(mine.data(), mine.size()), mine.data(), options);
    EXPECT_EQ(mine, my_part(running));

    std::vector<double> in_place = my_part(floats);
    std::vector<double> apart(in_place.size());
    host().scan(array_of(in_place.data(), in_place.size()), apart.data(), options);
    host().scan(array_of(in_place.data(), in_place.size()), in_place.data(), options);
    EXPECT_TRUE(same_bits(in_place, apart));
  }
}

TEST_F(HostCollectivesOfRanks, RanksThatDifferInFieldsAreRefusedTogether) {
  if (ranks() == 1) GTEST_SKIP() << "one rank can't differ";
  const std::string expected =
      "ranks make different calls on arrays: they differ in function, options, types or number of "
      "fields. Make the same call on every rank; only the elements and their number may differ.";
  const std::vector<double> x(100, 1.0);
  const Field field{array_of(x.data(), x.size())};
  std::vector<Field> fields(3, field);
  if (communicator_.is_last()) fields.push_back(field);
  EXPECT_EQ(error_of([&] { host().sums(fields); }), expected);
  fields.assign(2, field);
  if (communicator_.is_last()) fields[1].factors = fields[1].elements;
  EXPECT_EQ(error_of([&] { host().sums(fields); }), expected);
  const auto other_function = [&] {
    if (rank() == 0) {
      host().sums({field});
    } else {
      host().reduce(field.elements, {{Statistic::argmax}, {}});
    }
  };
  EXPECT_EQ(error_of(other_function), expected);
  const auto scan_and_sums = [&] {
    std::vector<double> prefixes(x.size());
    if (communicator_.is_last()) {
      host().scan(field.elements, prefixes.data());
    } else {
      host().sums({field});
    }
  };
  EXPECT_EQ(error_of(scan_and_sums), expected);
  EXPECT_EQ(host().sums({field}).front(), Value(100.0 * ranks()));
}

TEST_F(HostCollectivesOfRanks, FactorsOfAnotherNumberReachEveryRank) {
  const std::vector<double> x(10, 2.0);
  Field field{array_of(x.data(), 10), array_of(x.data(), 10)};
  if (communicator_.is_last()) field.factors->count = 9;
  EXPECT_EQ(error_of([&] { host().sums({field}); }),
            "a field and its factors differ in number or type: 10 f64 and 9 f64. Pass as many "
            "factors as elements, of their type.");
  field.factors->count = 10;
  EXPECT_EQ(host().sums({field}).front(), Value(40.0 * ranks()));
}

TEST_F(HostCollectivesOfRanks, AMistakeMeetsWhateverOthersCall) {
  const std::vector<double> x(10, 2.0);
  const auto call = [&] {
    if (communicator_.is_last()) host().refuse(usage_error("a mistake", "", ""));
    host().reduce(array_of(x.data(), 10), {{Statistic::argmin}, {}});
  };
  EXPECT_EQ(error_of(call), "a mistake.");
}

}  // namespace
}  // namespace warpfold
