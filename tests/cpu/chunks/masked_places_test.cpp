#include "cpu/chunks/masked_places.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "core/layout/hyperslab.hpp"
#include "core/values/ordered_key.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {
namespace {

struct Bits {
  std::vector<bool> bits;
  std::vector<std::uint64_t> words;

  Bits(std::size_t period, unsigned seed, unsigned of_ten) : bits(period), words(period / 64 + 1) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < period; ++i) {
      bits[i] = random() % 10 < of_ten;
      words[i / 64] |= std::uint64_t{bits[i]} << i % 64;
    }
  }

  Mask mask() const { return {words.data(), bits.size()}; }
};

/// Looks at all elements of a box of an array, which lie one behind another by `order`, block by
/// block.
void expect_bits(const Bits& mask, const Hyperslab& box, const std::vector<std::uint64_t>& shape,
                 const std::vector<std::uint64_t>& stride) {
  const BoxIndices indices = box_indices(box, stride, shape);
  std::vector<std::uint64_t> flat(box.elements());
  std::vector<std::uint64_t> at(shape.size());
  for (std::uint64_t n = 0; n < box.elements(); ++n) {
    std::uint64_t rest = n;
    std::uint64_t place = 0;
    for (std::size_t d = shape.size(); d-- > 0;) {
      at[d] = box.start[d] + rest % box.count[d];
      place += rest % box.count[d] * stride[d];
      rest /= box.count[d];
    }
    flat[place] = flat_index(at, shape);
  }
  const Kernels& kernels = *available_kernels().front();
  MaskedPlaces places(kernels, mask.mask());
  const auto decoder = make_element_decoder(kernels, {ElementType::u8, native_byte_order}, {});
  const std::vector<std::byte> stored(117);
  for (std::uint64_t first = 0; first < flat.size(); first += stored.size()) {
    const std::size_t n = std::min<std::size_t>(stored.size(), flat.size() - first);
    std::size_t counting = 0;
    const DecodedValues decoded =
        places.decode(*decoder, stored.data(), n, ElementIndices(indices, first));
    for (std::size_t i = 0; i < n; ++i) {
      const bool counts = mask.bits[flat[first + i] % mask.bits.size()];
      counting += counts ? 1 : 0;
      ASSERT_EQ(indices(first + i), flat[first + i]);
      const bool found =
          decoded.kept % n == 0 ? decoded.kept > 0 : (decoded.counts[i / 64] >> i % 64 & 1) != 0;
      ASSERT_EQ(found, counts) << "place " << first + i;
    }
    ASSERT_EQ(decoded.kept, counting);
  }
}

TEST(MaskedPlaces, AreThoseWhoseBitsAreSet) {
  const std::vector<std::uint64_t> shape{5, 7, 90};
  const Hyperslab whole{{0, 0, 0}, shape};
  const Hyperslab part{{1, 2, 3}, {4, 3, 70}};
  const Hyperslab rows{{2, 0, 0}, {2, 7, 90}};
  for (const std::size_t period :
       {std::size_t{5 * 7 * 90}, std::size_t{7 * 90}, std::size_t{90}, std::size_t{1}}) {
    const Bits mask(period, 4, 5);
    for (const Hyperslab& box : {whole, part, rows}) {
      const auto& n = box.count;
      expect_bits(mask, box, shape, {n[1] * n[2], n[2], 1});
      expect_bits(mask, box, shape, {1, n[0] * n[2], n[0]});
      expect_bits(mask, box, shape, {n[2], n[2] * n[0], 1});
    }
  }
}

template <class T>
void expect_decoded_and_filled(unsigned of_ten, bool filters) {
  constexpr std::size_t n = 500;
  const Bits mask(1000, 8, of_ten);
  const BoxIndices box{.first = 3};
  Decoding decoding;
  if (filters) decoding.values.minimum = ordered_key(T{50});
  const auto decoder = make_element_decoder(
      *available_kernels().front(), {element_type_of<T>(), native_byte_order}, decoding, 77);
  std::vector<T> values(n);
  std::vector<T> filled(n);
  std::vector<std::size_t> expected;
  for (std::size_t i = 0; i < n; ++i) {
    values[i] = static_cast<T>(3 * i + 1);
    const bool selected = mask.bits[8 + i];
    const bool counts = selected && (!filters || values[i] >= T{50});
    filled[i] = counts ? values[i] : T{77};
    if (counts) expected.push_back(i);
  }
  MaskedPlaces places(*available_kernels().front(), mask.mask());
  const DecodedValues decoded =
      places.decode(*decoder, reinterpret_cast<const std::byte*>(values.data()), n, {box, 5});
  EXPECT_EQ(decoded.kept, expected.size());
  if (decoded.kept > 0 && decoded.kept < n) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < n; ++i)
      if (decoded.counts[i / 64] >> i % 64 & 1) found.push_back(i);
    EXPECT_EQ(found, expected);
  }
  std::vector<T> written(n);
  decoder->fill(decoded, n, reinterpret_cast<std::byte*>(written.data()));
  EXPECT_EQ(written, filled);
}

TEST(MaskedPlaces, DecodeAndFillValuesOfAllSizes) {
  for (const unsigned of_ten : {0u, 4u, 10u}) {
    for (const bool filters : {false, true}) {
      expect_decoded_and_filled<std::uint8_t>(of_ten, filters);
      expect_decoded_and_filled<std::uint16_t>(of_ten, filters);
      expect_decoded_and_filled<std::uint32_t>(of_ten, filters);
      expect_decoded_and_filled<std::uint64_t>(of_ten, filters);
    }
  }
}

}  // namespace
}  // namespace warpfold::cpu
