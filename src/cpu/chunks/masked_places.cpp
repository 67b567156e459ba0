#include "cpu/chunks/masked_places.hpp"

#include <algorithm>

#include "cpu/chunks/bit_runs.hpp"

namespace warpfold::cpu {

std::size_t MaskedPlaces::look_at(const BoxIndices& indices, std::uint64_t first_place,
                                  std::size_t n) {
  std::fill_n(counts_, words_of(n), 0);
  for_each_index_run(indices, first_place, n, mask_.period,
                     [&](std::uint64_t bit, std::size_t done, std::size_t elements) {
                       put_bits(
                           mask_.words, bit, elements, done,
                           [&](std::uint64_t word, std::uint64_t bits) { counts_[word] |= bits; });
                     });
  return kernels_.count_bits(counts_, words_of(n));
}

DecodedValues MaskedPlaces::decode(ElementDecoder& decoder, const std::byte* stored, std::size_t n,
                                   const ElementIndices& indices) {
  if (mask_.selects_all()) return decoder.decode(stored, n);
  const std::size_t counting = look_at(indices.box(), indices.first_place(), n);
  if (counting == 0) return {};
  const DecodedValues decoded = decoder.decode(stored, n);
  if (counting == n || decoded.kept == 0) return decoded;
  if (decoded.kept == n) return {decoded.values, counts_, counting};
  for (std::size_t i = 0; i < words_of(n); ++i) counts_[i] &= decoded.counts[i];
  return {decoded.values, counts_, kernels_.count_bits(counts_, words_of(n))};
}

}  // namespace warpfold::cpu
