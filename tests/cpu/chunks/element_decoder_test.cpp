#include "cpu/chunks/element_decoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/values/value_filters.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/engines/elements.hpp"

namespace warpfold::cpu {
namespace {

using namespace warpfold::cpu::testing;

constexpr std::uint64_t left_out_bits = 42;

template <class T>
T canonical(T value) {
  if constexpr (std::is_floating_point_v<T>)
    if (value != value) return std::numeric_limits<T>::quiet_NaN();
  return value;
}

/// Expects of a decoder what decode() says of each element.
template <class Value, class Stored>
void expect_decoded(const Kernels& kernels, const std::vector<Stored>& elements, ByteOrder order,
                    const Decoding& decoding) {
  const std::size_t n = elements.size();
  const Value left_out = std::bit_cast<Value>(static_cast<Word<Value>>(left_out_bits));
  std::vector<Value> kept;
  std::vector<std::size_t> places;
  std::vector<Value> filled;
  for (std::size_t i = 0; i < n; ++i) {
    Value value;
    const bool counts = decode(decoding, elements[i], value);
    filled.push_back(counts ? canonical(value) : left_out);
    if (!counts) continue;
    kept.push_back(value);
    places.push_back(i);
  }
  std::vector<std::byte> stored(n * sizeof(Stored));
  put_elements(elements, order, stored.data());
  const auto decoder =
      make_element_decoder(kernels, {element_type_of<Stored>(), order}, decoding, left_out_bits);
  std::vector<Value> values(n);
  auto* const bytes = reinterpret_cast<std::byte*>(values.data());
  const DecodedValues decoded = decoder->decode(stored.data(), n);
  ASSERT_EQ(decoded.kept, kept.size());
  decoder->pack(decoded, n, bytes);
  EXPECT_EQ(std::memcmp(bytes, kept.data(), kept.size() * sizeof(Value)), 0);
  const BoxIndices box{.first = 3};
  const ElementIndices all(box, 2);
  for (std::size_t k = 0; decoded.kept < n && k < places.size(); ++k) {
    const ElementIndices counting = all.at(decoded.counts);
    ASSERT_EQ(counting(k), 5 + places[k]);
    ASSERT_EQ(counting.from(k).first(), 5 + places[k]);
  }
  decoder->fill(decoded, n, bytes);
  EXPECT_EQ(std::memcmp(bytes, filled.data(), n * sizeof(Value)), 0);
}

/// Elements of all kinds, and those that bounds are likely to be wrong at.
template <class Stored>
std::vector<Stored> elements_of(std::size_t n, unsigned seed) {
  std::vector<Stored> elements = make_elements<Stored>(Kind::all_bits, n / 2, seed);
  const auto more = make_elements<Stored>(Kind::sprinkled, n - n / 2, seed);
  elements.insert(elements.end(), more.begin(), more.end());
  using Limits =
      std::numeric_limits<std::conditional_t<std::is_integral_v<Stored>, Stored, double>>;
  std::vector<double> at_bounds = {0.0, -0.0, 1.0, -1.0, 7.0};
  if constexpr (!std::is_integral_v<Stored>)
    at_bounds.insert(at_bounds.end(),
                     {Limits::infinity(), -Limits::infinity(), Limits::quiet_NaN()});
  for (std::size_t i = 0; i < elements.size(); i += 3) {
    const double value = at_bounds[i / 3 % at_bounds.size()];
    if constexpr (std::is_integral_v<Stored>)
      elements[i] = static_cast<Stored>(static_cast<std::int64_t>(value));
    else
      elements[i] = from_double<Stored>(value);
  }
  return elements;
}

template <class Stored>
std::vector<Decoding> selections(const std::vector<Stored>& elements) {
  const std::vector<std::vector<std::string>> all_conditions = {
      {},
      {">0"},
      {"<=7"},
      {">-1", "<7"},
      {"!=7"},
      {"!=nan"},
      {"finite"},
      {"inf"},
      {"inf", "<0"},
      {"nan"},
      {">5", "<3"},
      {"==0x1.00000000001p0"},
      {">=0x1.00000000001p0"},
      {"<0x1.00000000001p-200"},
      {">1e300"},
      {"<-1e300"},
      {"!=0", "!=1", "!=-1"},
      {"!=0", "!=1", "!=2", "!=3", "!=4", "!=5", "!=6", "!=7"}};
  std::vector<Decoding> decodings;
  for (const auto& conditions : all_conditions) {
    Decoding decoding;
    decoding.values = filter_of_conditions(conditions, element_type_of<Stored>());
    decodings.push_back(decoding);
    decoding.stored.excluded[0] = ordered_key(elements[elements.size() / 2]);
    decoding.stored.excluded_count = 1;
    decodings.push_back(decoding);
  }
  return decodings;
}

template <class Stored>
void expect_selections() {
  const auto elements = elements_of<Stored>(5001, 3);
  for (const Kernels* kernels : available_kernels())
    for (const ByteOrder order : {ByteOrder::little, ByteOrder::big})
      for (const Decoding& decoding : selections(elements))
        expect_decoded<Stored>(*kernels, elements, order, decoding);
}

TEST(ElementDecoder, SelectsAsFiltersDo) {
  expect_selections<std::int8_t>();
  expect_selections<std::int16_t>();
  expect_selections<std::int32_t>();
  expect_selections<std::int64_t>();
  expect_selections<std::uint8_t>();
  expect_selections<std::uint16_t>();
  expect_selections<std::uint32_t>();
  expect_selections<std::uint64_t>();
  expect_selections<Float16>();
  expect_selections<BFloat16>();
  expect_selections<float>();
  expect_selections<double>();
}

template <class Value, class Stored>
void expect_unpacked(ElementType product) {
  const auto elements = elements_of<Stored>(3001, 4);
  Decoding decoding;
  decoding.unpacking = {true, element_type_of<Value>(), 0.1, -2.3, product, 3, 5};
  for (const Kernels* kernels : available_kernels()) {
    decoding.values = {};
    expect_decoded<Value>(*kernels, elements, ByteOrder::big, decoding);
    const std::vector<std::string> conditions{"finite", ">=-10", "!=-2"};
    decoding.values = filter_of_conditions(conditions, element_type_of<Value>());
    expect_decoded<Value>(*kernels, elements, ByteOrder::big, decoding);
  }
}

TEST(ElementDecoder, UnpacksAsDecodeDoes) {
  expect_unpacked<float, std::int8_t>(ElementType::f32);
  expect_unpacked<float, std::uint16_t>(ElementType::f32);
  expect_unpacked<float, Float16>(ElementType::f32);
  expect_unpacked<float, float>(ElementType::f32);
  expect_unpacked<double, std::int16_t>(ElementType::f32);
  expect_unpacked<double, std::int16_t>(ElementType::f64);
  expect_unpacked<double, std::int16_t>(ElementType::i64);
  expect_unpacked<double, std::uint32_t>(ElementType::u64);
  expect_unpacked<double, std::uint64_t>(ElementType::f64);
  expect_unpacked<double, BFloat16>(ElementType::f32);
  expect_unpacked<double, float>(ElementType::f64);
  expect_unpacked<double, double>(ElementType::f64);
  expect_unpacked<std::int64_t, std::int16_t>(ElementType::i64);
  expect_unpacked<std::uint64_t, std::uint64_t>(ElementType::u64);
}

}  // namespace
}  // namespace warpfold::cpu
