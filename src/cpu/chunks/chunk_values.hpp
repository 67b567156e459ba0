#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "core/values/decoding.hpp"
#include "core/values/left_out_mark.hpp"
#include "cpu/chunks/block_decoder.hpp"
#include "cpu/chunks/chunk_assembly.hpp"
#include "cpu/chunks/chunk_axes.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/chunks/masked_places.hpp"

namespace warpfold::cpu {

/// Gives the values of chunks' elements: of type Value, floats of 16 bits widened.
template <class Value>
class ChunkValues {
 public:
  ChunkValues(const Kernels& kernels, ElementFormat stored, const Decoding& decoding)
      : kernels_(kernels),
        element_bytes_(size_of(stored.type)),
        mask_(kernels, decoding.mask),
        as_stored_(decoding.trivial() && stored.type == element_type_of<Value>() &&
                   (stored.order == native_byte_order || element_bytes_ == 1)),
        marks_left_out_(std::is_floating_point_v<Value> && !decoding.trivial()),
        decoder_(make_element_decoder(kernels, stored, widening(decoding, stored.type), mark())) {}

  /// Returns whether those that are left out have left_out_mark for a value.
  bool marks_left_out() const { return marks_left_out_; }

  /// Returns a chunk's elements, to take values of.
  ChunkElements elements_of(const StagedChunks& slab, const StagedChunk& chunk,
                            const std::byte* staging) const {
    return {kernels_, element_bytes_, slab, chunk, staging};
  }

  /// Returns where all values of a chunk lie as they are; null where they don't.
  const Value* in_place(const ChunkElements& elements) const {
    return as_stored_ ? reinterpret_cast<const Value*>(elements.in_place(0)) : nullptr;
  }

  /// Returns the values of the `n` elements from `first` on, whether they count or not; valid until
  /// the next call.
  const Value* values(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                      const ElementIndices& indices) {
    if (as_stored_)
      if (const std::byte* ready = elements.in_place(first))
        return reinterpret_cast<const Value*>(ready);
    Value* const values = room_for(n);
    fill(elements, first, n, indices, values);
    return values;
  }

  /// Returns the values of a stack of tiles, chunk by chunk; valid until the next call. `tile` is
  /// the first chunk's; each further one lies `step` places behind at the target.
  const Value* packed(std::span<const ChunkElements> chunks, std::uint64_t step,
                      const ChunkAxes& tile, const BoxIndices& indices) {
    Value* next = room_for(chunks.size() * tile.elements());
    const Value* const values = next;
    for (std::size_t i = 0; i < chunks.size(); ++i)
      for_each_line(tile.moved(i * step), indices,
                    [&](std::uint64_t source, std::uint64_t n, std::uint64_t index) {
                      fill(chunks[i], source, n, {BoxIndices{index}, 0}, next);
                      next += n;
                    });
    return values;
  }

  /// Calls body(value, i) for those of the `n` elements from `first` on that count.
  template <class Body>
  void for_each_counted(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                        const ElementIndices& indices, Body&& body) {
    for_each_block(
        elements, first, n, [&](const std::byte* stored, std::size_t size, std::uint64_t place) {
          const DecodedValues decoded = mask_.decode(*decoder_, stored, size, indices.from(place));
          if (decoded.kept == 0) return;
          const auto* const values = reinterpret_cast<const Value*>(decoded.values);
          for (std::size_t i = 0; i < size; ++i)
            if (decoded.kept == size || is_set(decoded.counts, i)) body(values[i], place + i);
        });
  }

 private:
  static std::uint64_t mark() {
    if constexpr (std::is_floating_point_v<Value>)
      return std::bit_cast<Word<Value>>(left_out_mark<Value>);
    else
      return 0;
  }

  static bool is_set(const std::uint64_t* bits, std::size_t i) {
    return (bits[i / word_bits] >> i % word_bits & 1) != 0;
  }

  Value* room_for(std::uint64_t n) {
    values_.resize(std::max<std::size_t>(values_.size(), n));
    return values_.data();
  }

  void fill(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
            const ElementIndices& indices, Value* values) {
    for_each_block(elements, first, n,
                   [&](const std::byte* stored, std::size_t size, std::uint64_t place) {
                     decoder_->fill(mask_.decode(*decoder_, stored, size, indices.from(place)),
                                    size, reinterpret_cast<std::byte*>(values + place));
                   });
  }

  template <class Body>
  void for_each_block(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                      Body&& body) {
    for (std::uint64_t done = 0; done < n; done += block_elements) {
      const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - done));
      const std::byte* stored = elements.in_place(first + done);
      if (stored == nullptr) {
        elements.copy(first + done, size, stored_);
        stored = stored_;
      }
      body(stored, size, done);
    }
  }

  const Kernels& kernels_;
  std::size_t element_bytes_;
  MaskedPlaces mask_;
  bool as_stored_;
  bool marks_left_out_;
  std::unique_ptr<ElementDecoder> decoder_;
  std::vector<Value> values_;
  alignas(64) std::byte stored_[block_elements * sizeof(std::uint64_t)];
};

/// Calls visitor(Value{}) with the type of the values of elements stored as `stored`.
template <class Visitor>
auto visit_value_type(ElementType stored, const Decoding& decoding, Visitor&& visitor) {
  return visit_element_type(decoding.value_type(stored),
                            [&](auto value) { return visitor(Decoded<decltype(value)>{}); });
}

}  // namespace warpfold::cpu
