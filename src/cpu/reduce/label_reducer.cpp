#include "cpu/reduce/label_reducer.hpp"

#include <algorithm>

#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/reduce/column_reducer.hpp"

namespace warpfold::cpu {
namespace {

/// Calls body(elements of a chunk, first element, first place, count) for all of a slab's elements,
/// at most block_elements at a time.
template <class Value, class Body>
void for_each_block(const ChunkValues<Value>& values, const StagedChunks& slab,
                    const std::byte* staging, Body&& body) {
  for (const StagedChunk& chunk : slab.chunks) {
    const ChunkElements elements = values.elements_of(slab, chunk, staging);
    ChunkRows(slab.grid, slab.target, chunk.number).for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements)
        body(elements, row.source + done, row.target + done,
             std::min<std::uint64_t>(block_elements, row.elements - done));
    });
  }
}

template <class Value>
class TypedLabelReducer final : public LabelReducer {
 public:
  TypedLabelReducer(const Kernels& kernels, ElementFormat stored, const Decoding& decoding,
                    ReduceNeeds needs)
      : values_(kernels, stored, decoding),
        outputs_(kernels, needs, false),
        reducer_(kernels, outputs_) {
    outputs_.begin(0);
  }

  void reduce(const StagedChunks& slab, const std::byte* staging,
              std::span<const std::uint32_t> numbers, std::uint64_t outputs) override {
    outputs_.grow(outputs);
    for_each_block(
        values_, slab, staging,
        [&](const ChunkElements& elements, std::uint64_t first, std::uint64_t place,
            std::uint64_t n) {
          const std::uint64_t at = place % numbers.size();
          values_.for_each_counted(
              elements, first, n, {slab.indices, place}, [&](Value value, std::uint64_t i) {
                const std::uint64_t next = at + i;
                const std::uint32_t output =
                    numbers[next < numbers.size() ? next : next % numbers.size()];
                if (output == no_label) return;
                outputs_.count(output);
                reducer_.reduce_element(value, output, [&] { return slab.indices(place + i); });
              });
        });
  }

  AxisParts finish() override {
    AxisParts parts = outputs_.finish();
    outputs_.begin(0);
    return parts;
  }

 private:
  ChunkValues<Value> values_;
  AxisOutputs outputs_;
  ColumnReducer<Value> reducer_;
};

}  // namespace

LabelDecoder make_label_decoder(ElementFormat format, const Decoding& decoding) {
  return visit_value_type(format.type, decoding, [&](auto label) -> LabelDecoder {
    using Label = decltype(label);
    const auto labels = std::make_shared<ChunkValues<Label>>(choose_kernels(), format, decoding);
    return [labels](const StagedChunks& slab, const std::byte* staging, LabelNumbers& numbers,
                    std::span<std::uint32_t> places) {
      std::ranges::fill(places, no_label);
      for_each_block(*labels, slab, staging,
                     [&](const ChunkElements& elements, std::uint64_t first, std::uint64_t place,
                         std::uint64_t n) {
                       labels->for_each_counted(elements, first, n, {slab.indices, place},
                                                [&](Label each, std::uint64_t i) {
                                                  places[place + i] = numbers(ordered_key(each));
                                                });
                     });
    };
  });
}

std::unique_ptr<LabelReducer> make_label_reducer(ElementFormat format, const Decoding& decoding,
                                                 ReduceNeeds needs) {
  return visit_value_type(format.type, decoding, [&](auto value) -> std::unique_ptr<LabelReducer> {
    return std::make_unique<TypedLabelReducer<decltype(value)>>(choose_kernels(), format, decoding,
                                                                needs);
  });
}

}  // namespace warpfold::cpu
