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
  MaskedPlaces(const Kernels& kernels, const Mask& mask) : kernels_(kernels), mask_(mask) {}

  /// Returns what a decoder makes of `n` stored elements, of which those don't count either that
  /// the mask leaves out. Valid until the next call of both.
  DecodedValues decode(ElementDecoder& decoder, const std::byte* stored, std::size_t n,
                       const ElementIndices& indices);

 private:
  /// Looks at `n` elements, those from place `first_place` of a box on. Returns how many count.
  std::size_t look_at(const BoxIndices& indices, std::uint64_t first_place, std::size_t n);

  /// Notes which of `n` elements of consecutive indices count; those from `index` on, `done` of the
  /// block come before.
  void look_at_strides(std::uint64_t index, std::size_t done, std::size_t n);

  const Kernels& kernels_;
  Mask mask_;
  std::uint64_t counts_[words_of(block_elements)];
};

}  // namespace warpfold::cpu
