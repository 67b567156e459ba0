#include "core/values/generator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "core/numeric/fixed_point.hpp"
#include "core/values/byte_order.hpp"
#include "core/values/generated_elements.hpp"
#include "core/values/ordered_key.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold {
namespace {

std::vector<std::byte> generate(const GeneratorSpec& spec, std::vector<std::uint64_t> cuts = {}) {
  const std::size_t size = size_of(spec.format.type);
  std::vector<std::byte> bytes(spec.elements * size);
  const auto generator = make_generator(spec);
  cuts.push_back(spec.elements);
  std::uint64_t first = 0;
  for (const std::uint64_t end : cuts) {
    generator->fill({first, end - first},
                    std::span(bytes).subspan(first * size, (end - first) * size));
    first = end;
  }
  return bytes;
}

template <class T>
std::vector<T> elements_of(const GeneratorSpec& spec) {
  const std::vector<std::byte> bytes = generate(spec);
  std::vector<T> elements(spec.elements);
  std::ranges::copy(bytes, std::as_writable_bytes(std::span(elements)).begin());
  return elements;
}

/// Whether `type` can have elements of `kind`.
bool suits(GeneratorKind kind, ElementType type) {
  if (kind == GeneratorKind::nan) return is_floating(type);
  if (kind == GeneratorKind::cancel) return is_floating(type) || is_signed_integer(type);
  return true;
}

template <class Check>
void for_every_kind_and_type(Check&& check) {
  for (const GeneratorKind kind : all_generator_kinds) {
    for (const ElementType type : all_element_types) {
      if (!suits(kind, type)) continue;
      SCOPED_TRACE(std::string(name_of(kind)) + " " + std::string(name_of(type)));
      check(GeneratorSpec{kind, {type}, 1001, 1, 1.0});
    }
  }
}

Value added_up(const GeneratorSpec& spec) {
  return visit_element_type(spec.format.type, [&spec](auto element) -> Value {
    using T = decltype(element);
    ExactSum exact{};
    int128 integer = 0;
    for (const T each : elements_of<T>(spec)) {
      if constexpr (is_floating_element<T>)
        exact.add(widened(each));
      else
        integer += each;
    }
    exact.normalize();
    if constexpr (is_floating_element<T>)
      return exact.rounded();
    else
      return integer;
  });
}

GeneratorSpec spec_of(GeneratorKind kind, ElementType type, std::uint64_t elements) {
  return {kind, {type}, elements, 1, 1.0};
}

TEST(Generator, ElementsDependOnTheIndexAlone) {
  for_every_kind_and_type([](const GeneratorSpec& spec) {
    EXPECT_EQ(generate(spec), generate(spec, {1, 1, 2, 500, 777, 1000}));
    const std::vector<std::byte> whole = generate(spec);
    const std::size_t size = size_of(spec.format.type);
    std::vector<std::byte> tail(300 * size);
    make_generator(spec)->fill({701, 300}, tail);
    EXPECT_TRUE(std::equal(tail.begin(), tail.end(), whole.end() - 300 * std::ptrdiff_t(size)));
  });
}

TEST(Generator, EarlierRangesMayComeAgain) {
  const GeneratorSpec spec = spec_of(GeneratorKind::msws, ElementType::u32, 100);
  const auto generator = make_generator(spec);
  std::vector<std::byte> bytes(400);
  generator->fill({50, 50}, std::span(bytes).subspan(200));
  generator->fill({0, 50}, std::span(bytes).first(200));
  EXPECT_EQ(bytes, generate(spec));
}

TEST(Generator, ByteOrdersHoldTheSameValues) {
  for_every_kind_and_type([](GeneratorSpec spec) {
    spec.format.order = ByteOrder::little;
    const std::vector<std::byte> little = generate(spec);
    spec.format.order = ByteOrder::big;
    std::vector<std::byte> big = generate(spec);
    const auto size = static_cast<std::ptrdiff_t>(size_of(spec.format.type));
    for (auto at = big.begin(); at != big.end(); at += size) std::reverse(at, at + size);
    EXPECT_EQ(big, little);
  });
}

TEST(Generator, SeedsDiffer) {
  for_every_kind_and_type([](GeneratorSpec spec) {
    if (spec.kind == GeneratorKind::constant || spec.kind == GeneratorKind::iota) return;
    const std::vector<std::byte> first = generate(spec);
    spec.seed = 2;
    EXPECT_NE(generate(spec), first);
  });
}

TEST(Generator, KnownSumsAreTheSums) {
  for_every_kind_and_type([](GeneratorSpec spec) {
    for (const std::uint64_t elements :
         {0u, 1u, 2u, 3u, 6u, 7u, 8u, 9u, 15u, 16u, 17u, 127u, 1001u}) {
      spec.elements = elements;
      const Value sum = known_sum(spec);
      if (std::holds_alternative<std::monostate>(sum)) continue;
      EXPECT_TRUE(sum == added_up(spec)) << elements;
    }
  });
}

TEST(Generator, KnownSumsAreKnownWhereElementsAreExact) {
  const auto known = [](GeneratorKind kind, ElementType type, std::uint64_t elements) {
    return !std::holds_alternative<std::monostate>(known_sum(spec_of(kind, type, elements)));
  };
  EXPECT_TRUE(known(GeneratorKind::iota, ElementType::u8, 256));
  EXPECT_FALSE(known(GeneratorKind::iota, ElementType::u8, 257));
  EXPECT_TRUE(known(GeneratorKind::iota, ElementType::i16, 32768));
  EXPECT_FALSE(known(GeneratorKind::iota, ElementType::i16, 32769));
  EXPECT_TRUE(known(GeneratorKind::iota, ElementType::f16, 2049));
  EXPECT_FALSE(known(GeneratorKind::iota, ElementType::f16, 2050));
  EXPECT_TRUE(known(GeneratorKind::iota, ElementType::bf16, 257));
  EXPECT_FALSE(known(GeneratorKind::iota, ElementType::bf16, 258));
  EXPECT_TRUE(known(GeneratorKind::cancel, ElementType::f64, 1000));
  EXPECT_TRUE(known(GeneratorKind::constant, ElementType::f32, 1000));
  EXPECT_FALSE(known(GeneratorKind::uniform, ElementType::f64, 1000));
  EXPECT_FALSE(known(GeneratorKind::msws, ElementType::u32, 1000));
}

TEST(Generator, LargeKnownSums) {
  const std::uint64_t elements = std::uint64_t{1} << 40;
  EXPECT_TRUE(known_sum(spec_of(GeneratorKind::iota, ElementType::i64, elements)) ==
              Value((int128{1} << 79) - (int128{1} << 39)));
  EXPECT_TRUE(known_sum(spec_of(GeneratorKind::iota, ElementType::f64, elements)) ==
              Value(0x1p79 - 0x1p39));
  EXPECT_TRUE(known_sum(spec_of(GeneratorKind::cancel, ElementType::f64, elements)) ==
              Value(0x1p38));
}

TEST(Generator, ConstantIsRoundedToFloats) {
  GeneratorSpec spec{GeneratorKind::constant, {ElementType::f32}, 100'000'000, 1, 1.23};
  EXPECT_TRUE(known_sum(spec) == Value(1e8 * double{1.23f}));
  spec.elements = 2;
  EXPECT_EQ(elements_of<float>(spec), std::vector<float>(2, 1.23f));
  spec.value = -std::numeric_limits<double>::infinity();
  EXPECT_TRUE(known_sum(spec) == Value(spec.value));
  spec.value = -2.5;
  EXPECT_TRUE(known_sum(spec) == Value(-5.0));
}

TEST(Generator, ConstantThatTheTypeCannotHoldIsRefused) {
  const auto refused = [](ElementType type, double value) {
    try {
      make_generator({GeneratorKind::constant, {type}, 10, 1, value});
    } catch (const Error& error) {
      return error.exit_code() == ExitCode::usage;
    }
    return false;
  };
  EXPECT_TRUE(refused(ElementType::i8, 128));
  EXPECT_FALSE(refused(ElementType::i8, 127));
  EXPECT_FALSE(refused(ElementType::i8, -128));
  EXPECT_TRUE(refused(ElementType::i8, -129));
  EXPECT_TRUE(refused(ElementType::u16, -1));
  EXPECT_TRUE(refused(ElementType::i32, 1.5));
  EXPECT_TRUE(refused(ElementType::i64, 0x1p63));
  EXPECT_FALSE(refused(ElementType::i64, -0x1p63));
  EXPECT_TRUE(refused(ElementType::u64, 0x1p64));
  EXPECT_FALSE(refused(ElementType::u64, 0x1p63));
  EXPECT_TRUE(refused(ElementType::u64, std::numeric_limits<double>::quiet_NaN()));
  EXPECT_TRUE(refused(ElementType::f16, 1e6));
  EXPECT_FALSE(refused(ElementType::f16, std::numeric_limits<double>::infinity()));
}

TEST(Generator, KindsThatDoNotSuitTheTypeAreRefused) {
  for (const GeneratorKind kind : all_generator_kinds) {
    for (const ElementType type : all_element_types) {
      if (suits(kind, type)) continue;
      EXPECT_THROW(make_generator(spec_of(kind, type, 4)), Error);
    }
  }
}

TEST(Generator, IotaCountsAndWraps) {
  const auto bytes = elements_of<std::uint8_t>(spec_of(GeneratorKind::iota, ElementType::u8, 700));
  const auto floats = elements_of<float>(spec_of(GeneratorKind::iota, ElementType::f32, 700));
  for (std::size_t i = 0; i < 700; ++i) {
    EXPECT_EQ(bytes[i], i % 256);
    EXPECT_EQ(floats[i], static_cast<float>(i));
  }
}

TEST(Generator, MswsIsThePublishedSequence) {
  std::uint64_t x = 0;
  std::uint64_t w = 0;
  const auto drawn =
      elements_of<std::uint32_t>(spec_of(GeneratorKind::msws, ElementType::u32, 10'000));
  const auto fractions =
      elements_of<double>(spec_of(GeneratorKind::msws, ElementType::f64, 10'000));
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    x *= x;
    x += (w += 0xb5ad4eceda1ce2a9);
    x = (x >> 32) | (x << 32);
    ASSERT_EQ(drawn[i], static_cast<std::uint32_t>(x)) << i;
    ASSERT_EQ(fractions[i], static_cast<double>(drawn[i]) / 4294967296.0) << i;
  }
}

TEST(Generator, RangesComeInAnyOrder) {
  for_every_kind_and_type([](GeneratorSpec spec) {
    spec.elements = 10'000;
    const std::vector<std::byte> whole = generate(spec);
    const std::size_t size = size_of(spec.format.type);
    const auto generator = make_generator(spec);
    for (const std::uint64_t first : {9000U, 4000U, 8191U, 0U, 4096U, 9500U}) {
      std::vector<std::byte> bytes(500 * size);
      generator->fill({first, 500}, bytes);
      EXPECT_TRUE(std::ranges::equal(bytes, std::span(whole).subspan(first * size, bytes.size())));
    }
  });
}

TEST(Generator, MswsGoesBackFromFarAhead) {
  const GeneratorSpec spec = spec_of(GeneratorKind::msws, ElementType::u32, 300'000'000);
  const auto generator = make_generator(spec);
  const auto number_at = [&](std::uint64_t index) {
    std::uint32_t number = 0;
    generator->fill({index, 1}, std::as_writable_bytes(std::span(&number, 1)));
    return number;
  };
  constexpr std::uint64_t places[] = {299'999'999, 268'435'456, 268'435'455, 4096, 12'287, 0};
  std::vector<std::uint32_t> found;
  for (const std::uint64_t place : places) found.push_back(number_at(place));
  generated::MiddleSquareWeyl sequence(1);
  std::uint64_t drawn = 0;
  std::uint32_t number = 0;
  for (std::size_t i : {5U, 3U, 4U, 2U, 1U, 0U}) {
    for (; drawn <= places[i]; ++drawn) number = sequence();
    EXPECT_EQ(found[i], number) << places[i];
  }
}

TEST(Generator, UniformFloatsFillTheUnitInterval) {
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    visit_element_type(type, [type](auto element) {
      const auto elements =
          elements_of<decltype(element)>(spec_of(GeneratorKind::uniform, type, 20'000));
      std::vector<int> tenths(10);
      for (const auto each : elements) {
        const double value = widened(each);
        ASSERT_TRUE(value >= 0.0 && value < 1.0) << value;
        ++tenths[static_cast<std::size_t>(value * 10.0)];
      }
      for (const int count : tenths) EXPECT_TRUE(count > 1800 && count < 2200) << count;
    });
  }
}

TEST(Generator, UniformIntegersFillTheirRange) {
  const auto narrow =
      elements_of<std::int8_t>(spec_of(GeneratorKind::uniform, ElementType::i8, 20'000));
  EXPECT_EQ(*std::min_element(narrow.begin(), narrow.end()), -128);
  EXPECT_EQ(*std::max_element(narrow.begin(), narrow.end()), 127);
  const auto wide =
      elements_of<std::int64_t>(spec_of(GeneratorKind::uniform, ElementType::i64, 20'000));
  const auto [minimum, maximum] = std::minmax_element(wide.begin(), wide.end());
  EXPECT_TRUE(*minimum >= -0x80000000LL && *minimum < -0x7ff00000LL);
  EXPECT_TRUE(*maximum <= 0x7fffffffLL && *maximum > 0x7ff00000LL);
  const auto positive =
      elements_of<std::uint64_t>(spec_of(GeneratorKind::uniform, ElementType::u64, 20'000));
  const std::uint64_t top = *std::max_element(positive.begin(), positive.end());
  EXPECT_TRUE(top <= 0xffffffffu && top > 0xfff00000u);
}

TEST(Generator, NormalHasUnitDeviation) {
  const auto elements =
      elements_of<double>(spec_of(GeneratorKind::normal, ElementType::f64, 100'000));
  double sum = 0;
  double squares = 0;
  for (const double value : elements) {
    ASSERT_TRUE(std::isfinite(value));
    sum += value;
    squares += value * value;
  }
  EXPECT_TRUE(std::abs(sum / 1e5) < 0.02) << sum;
  EXPECT_TRUE(std::abs(squares / 1e5 - 1.0) < 0.02) << squares;
  const auto bytes =
      elements_of<std::int8_t>(spec_of(GeneratorKind::normal, ElementType::i8, 1000));
  EXPECT_EQ(*std::min_element(bytes.begin(), bytes.end()), -128);
  EXPECT_EQ(*std::max_element(bytes.begin(), bytes.end()), 127);
}

TEST(Generator, WideCoversItsBinaryOrders) {
  for (const auto& [type, orders] : {std::pair{ElementType::f16, 10},
                                     {ElementType::bf16, 30},
                                     {ElementType::f32, 30},
                                     {ElementType::f64, 30}}) {
    visit_element_type(type, [type = type, orders = orders](auto element) {
      int minimum = 2000;
      int maximum = -2000;
      int negative = 0;
      for (const auto each :
           elements_of<decltype(element)>(spec_of(GeneratorKind::wide, type, 20'000))) {
        minimum = std::min(minimum, std::ilogb(widened(each)));
        maximum = std::max(maximum, std::ilogb(widened(each)));
        negative += widened(each) < 0 ? 1 : 0;
      }
      EXPECT_EQ(minimum, -orders);
      EXPECT_EQ(maximum, orders - 1);
      EXPECT_TRUE(negative > 9500 && negative < 10'500);
    });
  }
}

TEST(Generator, CancelHasHugeElements) {
  const auto elements = elements_of<double>(spec_of(GeneratorKind::cancel, ElementType::f64, 101));
  for (std::size_t i = 0; i < 50; ++i) {
    EXPECT_TRUE(i % 4 == 3 ? elements[i] == 1.0 && elements[100 - i] == 1.0
                           : elements[i] >= 0x1p1000 && elements[100 - i] == -elements[i]);
  }
  EXPECT_EQ(elements[50], 1.0);
}

TEST(Generator, NanIsSprinkled) {
  for (const ElementType type :
       {ElementType::f16, ElementType::bf16, ElementType::f32, ElementType::f64}) {
    visit_element_type(type, [type](auto element) {
      int found = 0;
      for (const auto each :
           elements_of<decltype(element)>(spec_of(GeneratorKind::nan, type, 100'000)))
        found += std::isnan(widened(each)) ? 1 : 0;
      EXPECT_TRUE(found > 60 && found < 140) << found;
    });
  }
}

TEST(Generator, KindsAreParsedByName) {
  for (const GeneratorKind kind : all_generator_kinds)
    EXPECT_EQ(parse_generator_kind(name_of(kind)), kind);
  try {
    parse_generator_kind("noise");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit_code(), ExitCode::usage);
    EXPECT_NE(std::string(error.what()).find("msws"), std::string::npos);
  }
}

}  // namespace
}  // namespace warpfold
