#include "core/numeric/big_natural.hpp"

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

std::strong_ordering BigNatural::operator<=>(const BigNatural& other) const {
  if (digits_.size() != other.digits_.size()) return digits_.size() <=> other.digits_.size();
  return std::lexicographical_compare_three_way(digits_.rbegin(), digits_.rend(),
                                                other.digits_.rbegin(), other.digits_.rend());
}

BigNatural operator+(const BigNatural& a, const BigNatural& b) {
  BigNatural sum(0);
  const std::size_t digits = std::max(a.digits_.size(), b.digits_.size());
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    carry += i < a.digits_.size() ? a.digits_[i] : 0;
    carry += i < b.digits_.size() ? b.digits_[i] : 0;
    sum.digits_.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  if (carry != 0) sum.digits_.push_back(static_cast<std::uint32_t>(carry));
  return sum;
}

BigNatural operator<<(const BigNatural& a, int bits) {
  BigNatural shifted = a * BigNatural(std::uint64_t{1} << (bits % 32));
  if (!shifted.digits_.empty())
    shifted.digits_.insert(shifted.digits_.begin(), static_cast<std::size_t>(bits / 32), 0);
  return shifted;
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
