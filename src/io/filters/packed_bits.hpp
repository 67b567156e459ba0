#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "core/values/byte_order.hpp"
#include "io/filters/filter_step.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {

/// Integers of 1 to 64 bits each, one after the other, most significant bit first.
class PackedBits {
 public:
  /// Throws DamagedBytes where `packed` is too short for as many integers.
  PackedBits(std::span<const std::byte> packed, unsigned bits, std::size_t count)
      : packed_(packed), bits_(bits), count_(count) {
    if (packed.size() < (std::uint64_t{count} * bits + 7) / 8)
      throw DamagedBytes{"it ends too early"};
  }

  /// Calls take(i, integer i) for all in turn.
  template <class Take>
  void for_each(Take take) const {
    const std::size_t roomy = packed_.size() < window ? 0 : (packed_.size() - window) * 8 / bits_;
    const std::size_t inside = std::min(count_, roomy);
    for (std::size_t i = 0; i < inside; ++i) take(i, integer(packed_.data() + i * bits_ / 8, i));
    for (std::size_t i = inside; i < count_; ++i) {
      const auto left = packed_.subspan(i * bits_ / 8);
      std::array<std::byte, window> last{};
      std::copy_n(left.begin(), std::min(left.size(), window), last.begin());
      take(i, integer(last.data(), i));
    }
  }

 private:
  /// Bytes that 64 bits can lie in.
  static constexpr std::size_t window = 9;

  /// Returns integer i, whose first bit is in the first of a window's bytes.
  std::uint64_t integer(const std::byte* bytes, std::size_t i) const {
    const unsigned skipped = i * bits_ % 8;
    std::uint64_t first = 0;
    std::memcpy(&first, bytes, sizeof first);
    if constexpr (native_byte_order == ByteOrder::little) first = reversed_bytes(first);
    first <<= skipped;
    if (skipped + bits_ > 64) first |= std::to_integer<std::uint64_t>(bytes[8]) >> (8 - skipped);
    return first >> (64 - bits_);
  }

  std::span<const std::byte> packed_;
  unsigned bits_;
  std::size_t count_;
};

}  // namespace warpfold::io
