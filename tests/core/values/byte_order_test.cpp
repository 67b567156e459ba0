#include "core/values/byte_order.hpp"

#include <gtest/gtest.h>

#include "warpfold/core/element_type.hpp"

namespace warpfold {
namespace {

TEST(ByteOrder, WordsAreReversed) {
  EXPECT_EQ(reversed_bytes(std::uint8_t{0x12}), 0x12u);
  EXPECT_EQ(reversed_bytes(std::uint16_t{0x1234}), 0x3412u);
  EXPECT_EQ(reversed_bytes(std::uint32_t{0x12345678}), 0x78563412u);
  EXPECT_EQ(reversed_bytes(std::uint64_t{0x0123456789abcdef}), 0xefcdab8967452301u);
}

TEST(ByteOrder, ElementsAreReversed) {
  EXPECT_EQ(byte_swapped(std::int16_t{-2}), std::int16_t{-257});
  EXPECT_EQ(byte_swapped(std::bit_cast<float>(0x0000803fu)), 1.0f);
  EXPECT_EQ(byte_swapped(std::bit_cast<double>(std::uint64_t{0x000000000000f03f})), 1.0);
  EXPECT_EQ(byte_swapped(Float16{0x003c}).bits, 0x3c00u);
}

TEST(ByteOrder, TwiceIsOnce) {
  for (const ElementType type : all_element_types)
    visit_element_type(type, [](auto element) {
      using Bits = Word<decltype(element)>;
      const auto bits = static_cast<Bits>(0x0123456789abcd7fu);
      const auto original = std::bit_cast<decltype(element)>(bits);
      EXPECT_EQ(std::bit_cast<Bits>(byte_swapped(byte_swapped(original))), bits);
    });
}

}  // namespace
}  // namespace warpfold
