#include "cpu/chunks/masked_places.hpp"

#include <algorithm>
#include <numeric>

namespace warpfold::cpu {
namespace {

/// Returns how many elements from a place on have consecutive indices.
std::uint64_t run_from(const BoxIndices& indices, std::uint64_t place) {
  if (indices.dimensions == 0) return ~std::uint64_t{0};
  const int inner = indices.dimensions - 1;
  return indices.stride[inner] == 1 ? indices.extent[inner] - place % indices.extent[inner] : 1;
}

/// Writes 8 bits as 8 bytes of 0 or 1, the lowest bit first.
void spread_byte(std::uint64_t bits, std::uint8_t* to) {
  constexpr std::uint64_t every_byte = 0x0101010101010101;
  const std::uint64_t alone = bits * every_byte & 0x8040201008040201;
  const std::uint64_t bytes = (alone + 0x7f * every_byte) >> 7 & every_byte;
  for (int i = 0; i < 8; ++i) to[i] = static_cast<std::uint8_t>(bytes >> 8 * i);
}

/// Writes `n` bits from bit `first` on as bytes, and up to 7 bytes more.
void spread(const std::uint64_t* words, std::uint64_t first, std::size_t n, std::uint8_t* to) {
  constexpr auto word_bits = static_cast<std::uint64_t>(Mask::word_bits);
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t bit = (first + done) % word_bits;
    const std::uint64_t word = words[(first + done) / word_bits] >> bit;
    const std::size_t bits = std::min<std::size_t>(word_bits - bit, n - done);
    for (std::size_t i = 0; i < bits; i += 8) spread_byte(word >> i & 0xff, to + done + i);
    done += bits;
  }
}

/// Calls body(Word{}) with the unsigned type of so many bytes.
template <class Body>
auto visit_word(std::size_t bytes, Body&& body) {
  switch (bytes) {
    case 1:
      return body(std::uint8_t{});
    case 2:
      return body(std::uint16_t{});
    case 4:
      return body(std::uint32_t{});
    default:
      return body(std::uint64_t{});
  }
}

}  // namespace

std::size_t MaskedPlaces::look_at(const BoxIndices& indices, std::uint64_t first_place,
                                  std::size_t n) {
  for (std::size_t done = 0; done < n;) {
    const std::uint64_t place = first_place + done;
    const std::uint64_t bit = indices(place) % mask_.period;
    const std::uint64_t run = std::min(run_from(indices, place), mask_.period - bit);
    const auto elements = static_cast<std::size_t>(std::min<std::uint64_t>(run, n - done));
    spread(mask_.words, bit, elements, counts_ + done);
    done += elements;
  }
  looked_at_ = n;
  return counting_ = std::accumulate(counts_, counts_ + n, std::size_t{0});
}

DecodedValues MaskedPlaces::decode(ElementDecoder& decoder, const std::byte* stored, std::size_t n,
                                   const ElementIndices& indices) {
  if (selects_all()) return decoder.decode(stored, n);
  if (look_at(indices.box(), indices.first_place(), n) == 0) return {};
  const DecodedValues decoded = decoder.decode(stored, n);
  if (counting_ == n || decoded.kept == 0) return decoded;
  if (decoded.kept == n) return {decoded.values, counts_, counting_};
  std::size_t kept = 0;
  for (std::size_t i = 0; i < n; ++i) {
    counts_[i] &= decoded.counts[i];
    kept += counts_[i];
  }
  return {decoded.values, counts_, kept};
}

void MaskedPlaces::fill(std::byte* values, std::size_t value_bytes, std::uint64_t left_out) const {
  if (counting_ == looked_at_) return;
  visit_word(value_bytes, [&](auto word) {
    using Word = decltype(word);
    auto* words = reinterpret_cast<Word*>(values);
    const auto substitute = static_cast<Word>(left_out);
    for (std::size_t i = 0; i < looked_at_; ++i) words[i] = counts_[i] != 0 ? words[i] : substitute;
  });
}

}  // namespace warpfold::cpu
