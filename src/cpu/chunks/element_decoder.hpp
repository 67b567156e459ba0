#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/values/decoding.hpp"
#include "cpu/kernels/kernels.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// Applies a Decoding to blocks of at most block_elements elements, of one thread. Stored elements
/// are aligned to their size; values are of Decoding::value_type(), in native byte order.
class ElementDecoder {
 public:
  virtual ~ElementDecoder() = default;

  /// Writes the values that count among `n` elements, packed, and their places; returns how many.
  /// Both outputs have room for n.
  virtual std::size_t keep(const std::byte* stored, std::size_t n, std::byte* values,
                           std::uint16_t* places) = 0;

  /// The values of all `n` elements; those that don't count get the value given for them.
  virtual void fill(const std::byte* stored, std::size_t n, std::byte* values) = 0;
};

/// `left_out` has the bits of the value that fill() gives elements that don't count.
std::unique_ptr<ElementDecoder> make_element_decoder(const Kernels& kernels, ElementFormat stored,
                                                     const Decoding& decoding,
                                                     std::uint64_t left_out = 0);

}  // namespace warpfold::cpu
