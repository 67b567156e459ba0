#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Takes a stream apart from its start; throws DamagedBytes where it is too short.
class BigEndianReader {
 public:
  explicit BigEndianReader(std::span<const std::byte> bytes) : left_(bytes) {}

  std::uint64_t u64() { return integer(8); }
  std::uint32_t u32() { return static_cast<std::uint32_t>(integer(4)); }

  std::span<const std::byte> bytes(std::size_t count) {
    if (count > left_.size()) throw DamagedBytes{"it ends too early"};
    const auto taken = left_.first(count);
    left_ = left_.subspan(count);
    return taken;
  }

 private:
  std::uint64_t integer(std::size_t width) {
    std::uint64_t value = 0;
    for (const std::byte byte : bytes(width)) value = value << 8 | std::to_integer<unsigned>(byte);
    return value;
  }

  std::span<const std::byte> left_;
};

}  // namespace warpfold::io
