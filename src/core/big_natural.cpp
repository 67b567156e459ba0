#include "core/big_natural.hpp"

#include <algorithm>
#include <bit>

namespace warpfold {

BigNatural::BigNatural(std::uint64_t value)
    : digits_{static_cast<std::uint32_t>(value), static_cast<std::uint32_t>(value >> 32)} {
  trim();
}

int BigNatural::bit_length() const {
  if (digits_.empty()) return 0;
  return 32 * static_cast<int>(digits_.size()) - std::countl_zero(digits_.back());
}

bool BigNatural::bit(int position) const {
  if (position < 0 || position >= bit_length()) return false;
  return (digits_[static_cast<std::size_t>(position) / 32] >> (position % 32) & 1u) != 0;
}

bool BigNatural::any_bit_below(int position) const {
  const auto end = static_cast<std::size_t>(std::clamp(position, 0, bit_length()));
  const std::size_t whole = end / 32;
  const bool in_whole_digits =
      std::any_of(digits_.begin(), digits_.begin() + static_cast<std::ptrdiff_t>(whole),
                  [](std::uint32_t digit) { return digit != 0; });
  if (in_whole_digits || end % 32 == 0) return in_whole_digits;
  return (digits_[whole] & ((1u << end % 32) - 1)) != 0;
}

void BigNatural::trim() {
  while (!digits_.empty() && digits_.back() == 0) digits_.pop_back();
}

BigNatural operator*(const BigNatural& a, const BigNatural& b) {
  BigNatural product(0);
  product.digits_.assign(a.digits_.size() + b.digits_.size(), 0);
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.digits_.size(); ++j) {
      carry += static_cast<std::uint64_t>(a.digits_[i]) * b.digits_[j] + product.digits_[i + j];
      product.digits_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    product.digits_[i + b.digits_.size()] = static_cast<std::uint32_t>(carry);
  }
  product.trim();
  return product;
}

BigNatural operator-(const BigNatural& a, const BigNatural& b) {
  BigNatural difference = a;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.digits_.size(); ++i) {
    const std::int64_t subtrahend = i < b.digits_.size() ? b.digits_[i] : 0;
    const std::int64_t digit = a.digits_[i] - subtrahend + borrow;
    difference.digits_[i] = static_cast<std::uint32_t>(digit);
    borrow = digit >> 32;
  }
  difference.trim();
  return difference;
}

}  // namespace warpfold
