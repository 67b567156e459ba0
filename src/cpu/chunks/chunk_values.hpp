#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
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

/// Gives the values of chunks' elements, stored as `Stored`: of type Value, floats of 16 bits
/// widened.
template <class Stored, class Value>
class ChunkValues {
 public:
  ChunkValues(const Kernels& kernels, ByteOrder order, const Decoding& decoding)
      : decoder_(kernels, order),
        decoding_(decoding),
        mask_(kernels, decoding.mask),
        as_stored_(std::is_same_v<Stored, Value> && decoding.trivial() &&
                   (order == native_byte_order || sizeof(Stored) == 1)) {
    // A decoder leaves floats of 16 bits as they are stored.
    const bool of_value_type = std::is_same_v<Stored, Value> || decoding.unpacking.active;
    if constexpr (std::is_floating_point_v<Value>)
      if (!decoding.trivial() && of_value_type)
        marking_ = make_element_decoder(kernels, {element_type_of<Stored>(), order}, decoding,
                                        std::bit_cast<Word<Value>>(left_out_mark<Value>));
  }

  /// Tells whether those that are left out have left_out_mark for a value.
  bool marks_left_out() const { return marking_ != nullptr; }

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

  /// Returns the values of a tile of a chunk one behind another, likewise.
  const Value* packed(const ChunkElements& elements, const ChunkAxes& tile,
                      const BoxIndices& indices) {
    Value* const values = room_for(tile.elements());
    std::uint64_t done = 0;
    for_each_line(tile, indices, [&](std::uint64_t source, std::uint64_t n, std::uint64_t index) {
      fill(elements, source, n, {BoxIndices{index}, 0}, values + done);
      done += n;
    });
    return values;
  }

  /// Calls body(value, i) for those of the `n` elements from `first` on that count.
  template <class Body>
  void for_each_counted(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
                        const ElementIndices& indices, Body&& body) {
    const bool masks = !mask_.selects_all();
    for_each_block(elements, first, n,
                   [&](const std::byte* stored, std::size_t size, std::uint64_t place) {
                     const ElementIndices of_block = indices.from(place);
                     if (masks && mask_.look_at(of_block.box(), of_block.first_place(), size) == 0)
                       return;
                     const Decoded<Stored>* x = decoder_.decode(stored, size);
                     for (std::size_t i = 0; i < size; ++i) {
                       if (masks && !mask_.counts(i)) continue;
                       if (Value value; decode(decoding_, x[i], value)) body(value, place + i);
                     }
                   });
  }

 private:
  Value* room_for(std::uint64_t n) {
    values_.resize(std::max<std::size_t>(values_.size(), n));
    return values_.data();
  }

  void fill(const ChunkElements& elements, std::uint64_t first, std::uint64_t n,
            const ElementIndices& indices, Value* values) {
    for_each_block(
        elements, first, n, [&](const std::byte* stored, std::size_t size, std::uint64_t place) {
          if (marking_)
            return marking_->fill(mask_.decode(*marking_, stored, size, indices.from(place)), size,
                                  reinterpret_cast<std::byte*>(values + place));
          const Decoded<Stored>* x = decoder_.decode(stored, size);
          for (std::size_t i = 0; i < size; ++i) decode(decoding_, x[i], values[place + i]);
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

  BlockDecoder<Stored> decoder_;
  Decoding decoding_;
  MaskedPlaces mask_;
  bool as_stored_;
  std::unique_ptr<ElementDecoder> marking_;
  std::vector<Value> values_;
  alignas(64) std::byte stored_[block_elements * sizeof(Stored)];
};

/// Calls visitor(Stored{}, Value{}) with the types of elements and of their values.
template <class Visitor>
auto visit_value_type(ElementType stored, const Decoding& decoding, Visitor&& visitor) {
  return visit_element_type(stored, [&](auto element) {
    return visit_value_of<Decoded<decltype(element)>>(
        decoding.unpacking, [&](auto value) { return visitor(element, value); });
  });
}

}  // namespace warpfold::cpu
