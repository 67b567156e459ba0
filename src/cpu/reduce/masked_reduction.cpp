#include "cpu/reduce/masked_reduction.hpp"

#include <algorithm>

namespace warpfold::cpu {

void MaskedReduction::reduce(RangeSink& into, const Array& array, const std::uint8_t* mask) {
  if (array.count == 0) return;
  if (mask == nullptr) {
    const BoxIndices indices;
    into.reduce(static_cast<const std::byte*>(array.data), array.count, {indices, 0});
    return;
  }
  visit_element_type(array.type, [&](auto element) {
    reduce_words(into, static_cast<const Word<decltype(element)>*>(array.data), array.count, mask);
  });
}

template <class Word>
void MaskedReduction::reduce_words(RangeSink& into, const Word* elements, std::uint64_t count,
                                   const std::uint8_t* mask) {
  const BoxIndices indices;
  for (std::uint64_t first = 0; first < count; first += block_elements) {
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, count - first));
    const std::size_t kept = mask_.look_at(mask + first, n);
    const ElementIndices places(indices, first);
    if (kept == n) {
      into.reduce(reinterpret_cast<const std::byte*>(elements + first), n, places);
    } else if (kept > 0) {
      mask_.pack(elements + first, n, reinterpret_cast<Word*>(packed_));
      into.reduce(packed_, kept, places.at(mask_.counts()));
    }
  }
}

}  // namespace warpfold::cpu
