#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace warpfold::fuzz {

/// Takes a fuzzer's bytes apart from their start; zeros follow behind the last one.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size)
      : left_(std::as_bytes(std::span(data, size))) {}

  std::uint8_t byte() {
    if (left_.empty()) return 0;
    const auto value = std::to_integer<std::uint8_t>(left_.front());
    left_ = left_.subspan(1);
    return value;
  }

  /// Little-endian.
  std::uint32_t u32() {
    std::uint32_t value = 0;
    for (int shift = 0; shift < 32; shift += 8) value |= std::uint32_t{byte()} << shift;
    return value;
  }

  std::span<const std::byte> rest() const { return left_; }

  std::string_view rest_as_text() const {
    return {reinterpret_cast<const char*>(left_.data()), left_.size()};
  }

 private:
  std::span<const std::byte> left_;
};

}  // namespace warpfold::fuzz
