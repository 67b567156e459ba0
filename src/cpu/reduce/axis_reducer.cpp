#include "cpu/reduce/axis_reducer.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>
#include <vector>

#include "core/values/ordered_key.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/chunk_rows.hpp"
#include "cpu/chunks/chunk_stacks.hpp"
#include "cpu/chunks/chunk_values.hpp"
#include "cpu/reduce/axis_value_reducer.hpp"

namespace warpfold::cpu {
namespace {

template <class Value>
class ChunkedAxisReducer final : public LabelReducer {
 public:
  ChunkedAxisReducer(const Kernels& kernels, ElementFormat stored, const Decoding& decoding,
                     ReduceNeeds needs)
      : masks_(!decoding.mask.selects_all()),
        values_(kernels, stored, decoding),
        takes_all_(decoding.selects_all() || values_.marks_left_out()),
        outputs_(kernels, needs, values_.marks_left_out()),
        reducer_(kernels, outputs_) {}

  void begin(std::uint64_t outputs) override { outputs_.begin(outputs); }

  void label(std::span<const std::uint32_t> numbers, std::uint64_t outputs) override {
    outputs_.label(numbers, outputs);
  }

  AxisParts finish() override { return outputs_.finish(); }

  void reduce(const StagedChunks& slab, const std::byte* staging) override {
    reducer_.set_rows(slab.indices_of_extrema());
    if (takes_all_) outputs_.count_places(slab.target.elements);
    const auto is_low = [&](const ChunkAxes& axes) {
      return takes_all_ && axes.within(slab.target.elements) && reducer_.has_few_rows(axes);
    };
    for_each_stack(slab, outputs_.row_places(), max_stack, is_low, [&](const ChunkStack& stack) {
      elements_.clear();
      for (const PlacedChunk& placed : stack.chunks)
        elements_.push_back(values_.elements_of(slab, *placed.chunk, staging));
      const auto rows = [&] {
        return ChunkRows(slab.grid, slab.target, stack.chunks.front().chunk->number);
      };
      if (!takes_all_)
        reduce_counted(elements_.front(), slab.indices, rows());
      else if (!stack.axes.within(slab.target.elements))
        reduce_rows(elements_.front(), slab.indices, rows());
      else
        reduce_stack(stack, slab);
    });
  }

 private:
  /// Elements that stay in a core's cache.
  static constexpr std::uint64_t tile_elements = std::uint64_t{1} << 15;

  static constexpr std::size_t max_stack = row_tile;

  void reduce_stack(const ChunkStack& stack, const StagedChunks& slab) {
    const std::size_t chunks = elements_.size();
    const bool scattered = stack.axes.size() > 0 && stack.axes[stack.axes.size() - 1].source != 1;
    const bool nearly_all = slab.grid.chunk_elements() <= 2 * slab.target.elements;
    const bool at_once = scattered ? nearly_all && !masks_
                                   : chunks == 1 && values_.in_place(elements_.front()) != nullptr;
    if (at_once)
      reducer_.reduce(
          values_.values(elements_.front(), 0, slab.grid.chunk_elements(), {slab.indices, 0}),
          stack.axes);
    else
      reducer_.for_each_tile(stack.axes, tile_elements / chunks, [&](const ChunkAxes& tile) {
        reducer_.reduce(values_.packed(elements_, stack.step, tile, slab.indices),
                        tile.repeated(chunks, stack.step));
      });
  }

  /// Reduces elements of which others are left out, one by one.
  void reduce_counted(const ChunkElements& elements, const BoxIndices& indices,
                      const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      values_.for_each_counted(elements, row.source, row.elements, {indices, row.target},
                               [&](Value value, std::uint64_t i) {
                                 const std::uint64_t place = row.target + i;
                                 outputs_.count(place % outputs_.row_places());
                                 reducer_.reduce_element(value, place);
                               });
    });
  }

  /// Reduces chunks of which some elements go beyond the target.
  void reduce_rows(const ChunkElements& elements, const BoxIndices& indices,
                   const ChunkRows& chunk_rows) {
    chunk_rows.for_each([&](const ChunkRow& row) {
      for (std::uint64_t done = 0; done < row.elements; done += block_elements) {
        const std::uint64_t n = std::min<std::uint64_t>(block_elements, row.elements - done);
        const std::uint64_t place = row.target + done;
        reducer_.reduce_run(values_.values(elements, row.source + done, n, {indices, place}), n,
                            place);
      }
    });
  }

  bool masks_;
  ChunkValues<Value> values_;
  bool takes_all_;  ///< elements that are left out, too, which are marked
  AxisOutputs outputs_;
  AxisValueReducer<Value> reducer_;
  std::vector<ChunkElements> elements_;  ///< elements of a stack's chunks
};

std::unique_ptr<LabelReducer> make_chunked_reducer(const Kernels& kernels, ElementFormat format,
                                                   const Decoding& decoding, ReduceNeeds needs) {
  return visit_value_type(format.type, decoding, [&](auto value) -> std::unique_ptr<LabelReducer> {
    return std::make_unique<ChunkedAxisReducer<decltype(value)>>(kernels, format, decoding, needs);
  });
}

/// Integers of type T reduced as the floats of equal value.
template <class T>
class IntegersAsFloats final : public LabelReducer {
 public:
  explicit IntegersAsFloats(std::unique_ptr<LabelReducer> floats) : floats_(std::move(floats)) {}

  void begin(std::uint64_t outputs) override { floats_->begin(outputs); }
  void label(std::span<const std::uint32_t> numbers, std::uint64_t outputs) override {
    floats_->label(numbers, outputs);
  }
  void reduce(const StagedChunks& slab, const std::byte* staging) override {
    floats_->reduce(slab, staging);
  }
  AxisParts finish() override {
    AxisParts parts = floats_->finish();
    make_integers(parts.minimum, 0);
    make_integers(parts.maximum, ~std::uint64_t{0});
    return parts;
  }

 private:
  static void make_integers(std::vector<Extremum>& extrema, std::uint64_t complement) {
    for (Extremum& extremum : extrema) {
      if (!extremum.seen()) continue;
      const T value = static_cast<T>(std::bit_cast<double>(extremum.bits));
      extremum.key = ordered_key(value) ^ complement;
      extremum.bits = value_bits(value);
    }
  }

  std::unique_ptr<LabelReducer> floats_;
};

}  // namespace

std::unique_ptr<LabelReducer> make_axis_reducer(const Kernels& kernels, ElementFormat format,
                                                const Decoding& decoding, ReduceNeeds needs) {
  const std::optional<Decoding> floats =
      decoding.selects_all() ? std::nullopt : as_floats(decoding, format.type);
  auto reducer = make_chunked_reducer(kernels, format, floats.value_or(decoding), needs);
  if (!floats) return reducer;
  return visit_element_type(format.type, [&](auto element) -> std::unique_ptr<LabelReducer> {
    using T = decltype(element);
    if constexpr (std::is_integral_v<T>)
      return std::make_unique<IntegersAsFloats<T>>(std::move(reducer));
    else
      return std::move(reducer);
  });
}

}  // namespace warpfold::cpu
