#include <algorithm>
#include <array>
#include <cstring>

#include "core/values/byte_order.hpp"
#include "io/filters/steps.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::io {
namespace {

constexpr std::uint64_t modulus = 65535;
constexpr std::size_t lanes = 16;
constexpr std::size_t block_words = 256 * lanes;  // the lanes' second sums stay below 2^32

/// Both sums of words in native order, exact modulo 65535.
struct Sums {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  void add(std::uint16_t word) {
    first = (first + word) % modulus;
    second = (second + first) % modulus;
  }

  /// A multiple of `lanes` words, at most block_words. Each lane sums every sixteenth word.
  void add_block(const std::uint16_t* words, std::size_t count) {
    std::array<std::uint32_t, lanes> sum{};
    std::array<std::uint32_t, lanes> sum_of_sums{};
    for (std::size_t i = 0; i < count; i += lanes) {
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        sum[lane] += words[i + lane];
        sum_of_sums[lane] += sum[lane];
      }
    }
    std::uint64_t total = 0;
    std::uint64_t weighted = 0;
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      total += sum[lane];
      // A lane's word in row r of R counts (R - r) * lanes - lane times.
      weighted += lanes * std::uint64_t{sum_of_sums[lane]} - lane * std::uint64_t{sum[lane]};
    }
    second = (second + count % modulus * first + weighted) % modulus;
    first = (first + total) % modulus;
  }
};

Sums native_sums(std::span<const std::byte> bytes) {
  std::array<std::uint16_t, block_words> words;
  Sums sums;
  std::size_t left = bytes.size() / 2;
  const std::byte* at = bytes.data();
  while (left >= lanes) {
    const std::size_t count = std::min(left - left % lanes, block_words);
    std::memcpy(words.data(), at, 2 * count);
    sums.add_block(words.data(), count);
    at += 2 * count;
    left -= count;
  }
  std::memcpy(words.data(), at, 2 * left);
  for (std::size_t i = 0; i < left; ++i) sums.add(words[i]);
  if (bytes.size() % 2 != 0) {
    const std::array<std::byte, 2> last{bytes.back(), std::byte{0}};
    std::uint16_t word = 0;
    std::memcpy(&word, last.data(), 2);
    sums.add(word);
  }
  return sums;
}

bool is_zero(std::byte byte) { return byte == std::byte{0}; }

/// Reducing carries back in, as the algorithm does, reaches 0 only for sums of zeros.
std::uint32_t reduced(std::uint64_t sum) {
  return static_cast<std::uint32_t>(sum == 0 ? modulus : sum);
}

/// Exchanges the bytes of each half.
std::uint32_t with_halves_swapped(std::uint32_t checksum) {
  return ((checksum & 0x00ff00ffU) << 8) | ((checksum >> 8) & 0x00ff00ffU);
}

std::uint32_t little_endian(std::span<const std::byte> bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < fletcher32_bytes; ++i) {
    value |= std::to_integer<std::uint32_t>(bytes[i]) << (8 * i);
  }
  return value;
}

class Fletcher32Step : public FilterStep {
 public:
  std::span<const std::byte> undo(std::span<const std::byte> stored,
                                  std::span<std::byte> /*out*/) override {
    if (stored.size() < fletcher32_bytes) throw DamagedBytes{"it is too short for its checksum"};
    const auto bytes = stored.first(stored.size() - fletcher32_bytes);
    const std::uint32_t expected = little_endian(stored.last(fletcher32_bytes));
    const std::uint32_t found = fletcher32(bytes);
    if (found != expected && with_halves_swapped(found) != expected) {
      throw DamagedBytes{"its fletcher32 checksum is wrong"};
    }
    return bytes;
  }
};

}  // namespace

std::uint32_t fletcher32(std::span<const std::byte> bytes) {
  if (std::all_of(bytes.begin(), bytes.end(), is_zero)) return 0;
  Sums sums = native_sums(bytes);
  if constexpr (native_byte_order == ByteOrder::little) {
    // Modulo 65535, exchanging a word's bytes is multiplying it by 256.
    sums.first = sums.first * 256 % modulus;
    sums.second = sums.second * 256 % modulus;
  }
  return reduced(sums.second) << 16 | reduced(sums.first);
}

std::unique_ptr<FilterStep> make_fletcher32_step() { return std::make_unique<Fletcher32Step>(); }

}  // namespace warpfold::io
