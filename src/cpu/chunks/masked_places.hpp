#pragma once

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "core/values/mask.hpp"
#include "cpu/chunks/element_decoder.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/kernels/kernels.hpp"

namespace warpfold::cpu {

/// Applies a mask to blocks of at most block_elements elements that lie one behind another, of one
/// thread.
class MaskedPlaces {
 public:
  explicit MaskedPlaces(const Mask& mask) : mask_(mask) {}

  bool selects_all() const { return mask_.selects_all(); }

  /// Looks at `n` elements, those from place `first_place` of a box on. Returns how many count.
  std::size_t look_at(const BoxIndices& indices, std::uint64_t first_place, std::size_t n);

  /// Tells whether the i-th of the elements last looked at counts.
  bool counts(std::size_t i) const { return counts_[i] != 0; }

  /// Returns what a decoder makes of `n` stored elements, of which those don't count either that
  /// the mask leaves out; values of none where no element counts. Valid until the next call of
  /// both.
  DecodedValues decode(ElementDecoder& decoder, const std::byte* stored, std::size_t n,
                       const ElementIndices& indices);

  /// Puts the value with the bits of `left_out` in place of those, among all last looked at, that
  /// don't count.
  void fill(std::byte* values, std::size_t value_bytes, std::uint64_t left_out) const;

 private:
  Mask mask_;
  std::size_t looked_at_ = 0;
  std::size_t counting_ = 0;                             ///< of those last looked at
  alignas(64) std::uint8_t counts_[block_elements + 8];  ///< and what spreading writes beyond
};

}  // namespace warpfold::cpu
