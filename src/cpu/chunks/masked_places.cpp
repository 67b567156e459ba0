#include "cpu/chunks/masked_places.hpp"

#include <algorithm>

#include "cpu/chunks/bit_runs.hpp"

namespace warpfold::cpu {

std::size_t MaskedPlaces::look_at(const BoxIndices& indices, std::uint64_t first_place,
                                  std::size_t n) {
  std::fill_n(counts_, words_of(n), 0);
  if (mask_.stride > 1) {
    for_each_index_run(indices, first_place, n, mask_.stride * mask_.period,
                       [&](std::uint64_t index, std::size_t done, std::size_t elements) {
                         look_at_strides(index, done, elements);
                       });
    return kernels_.count_bits(counts_, words_of(n));
  }
  for_each_index_run(indices, first_place, n, mask_.period,
                     [&](std::uint64_t bit, std::size_t done, std::size_t elements) {
                       put_bits(
                           mask_.words, bit, elements, done,
                           [&](std::uint64_t word, std::uint64_t bits) { counts_[word] |= bits; });
                     });
  return kernels_.count_bits(counts_, words_of(n));
}

void MaskedPlaces::look_at_strides(std::uint64_t index, std::size_t done, std::size_t n) {
  std::uint64_t bit = index / mask_.stride;
  std::uint64_t until = mask_.stride - index % mask_.stride;
  for (const std::size_t end = done + n; done < end; ++bit, until = mask_.stride) {
    const auto behind = static_cast<std::size_t>(std::min<std::uint64_t>(end, done + until));
    const bool is_set = (mask_.words[bit / Mask::word_bits] >> bit % Mask::word_bits & 1) != 0;
    while (done < behind) {
      const std::size_t first = done % word_bits;
      const std::size_t some = std::min<std::size_t>(word_bits - first, behind - done);
      const std::uint64_t bits =
          some == word_bits ? ~std::uint64_t{0} : (std::uint64_t{1} << some) - 1;
      if (is_set) counts_[done / word_bits] |= bits << first;
      done += some;
    }
  }
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
