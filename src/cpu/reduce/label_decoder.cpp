#include "cpu/reduce/label_decoder.hpp"

#include <algorithm>
#include <memory>

#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"

namespace warpfold::cpu {

LabelDecoder make_label_decoder(ElementFormat format, const Decoding& decoding) {
  return visit_value_type(format.type, decoding, [&](auto label) -> LabelDecoder {
    using Label = decltype(label);
    const auto labels = std::make_shared<ChunkValues<Label>>(choose_kernels(), format, decoding);
    return [labels](const StagedChunks& slab, const std::byte* staging, LabelNumbers& numbers,
                    std::span<std::uint32_t> places) {
      std::ranges::fill(places, no_label);
      for (const StagedChunk& chunk : slab.chunks) {
        const ChunkElements elements = labels->elements_of(slab, chunk, staging);
        ChunkRows(slab.grid, slab.target, chunk.number).for_each([&](const ChunkRow& row) {
          labels->for_each_counted(elements, row.source, row.elements, {slab.indices, row.target},
                                   [&](Label each, std::uint64_t i) {
                                     places[row.target + i] = numbers(ordered_key(each));
                                   });
        });
      }
    };
  });
}

}  // namespace warpfold::cpu
