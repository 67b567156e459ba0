#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "cpu/chunks/element_decoder.hpp"
#include "cpu/chunks/element_indices.hpp"
#include "cpu/chunks/masked_places.hpp"

namespace warpfold::cpu {

/// Hands the values that count on to what takes elements that are values already, block by block.
class DecodedBlocks {
 public:
  DecodedBlocks(const Kernels& kernels, ElementFormat stored, const Decoding& decoding)
      : element_bytes_(size_of(stored.type)),
        mask_(kernels, decoding.mask),
        decoder_(make_element_decoder(kernels, stored, decoding)) {}

  /// Calls take(values, count, their indices) for each block of the `n` elements that has any.
  template <class Take>
  void for_each(const std::byte* stored, std::uint64_t n, const ElementIndices& indices,
                Take&& take) {
    for (std::uint64_t first = 0; first < n; first += block_elements) {
      const auto size =
          static_cast<std::size_t>(std::min<std::uint64_t>(block_elements, n - first));
      const DecodedValues decoded =
          mask_.decode(*decoder_, stored + first * element_bytes_, size, indices.from(first));
      if (decoded.kept == size) {
        take(decoded.values, size, indices.from(first));
      } else if (decoded.kept > 0) {
        decoder_->pack(decoded, size, values_);
        take(values_, decoded.kept, indices.from(first).at(decoded.counts));
      }
    }
  }

 private:
  std::size_t element_bytes_;
  MaskedPlaces mask_;
  std::unique_ptr<ElementDecoder> decoder_;
  alignas(64) std::byte values_[block_elements * sizeof(double)];
};

/// Hands the values that a Decoding gives stored elements on to a Sink of values.
template <class Sink>
class DecodingSink : public Sink {
 public:
  DecodingSink(const Kernels& kernels, ElementFormat stored, const Decoding& decoding,
               std::unique_ptr<Sink> values)
      : blocks_(kernels, stored, decoding), values_(std::move(values)) {}

  void reduce(const std::byte* elements, std::uint64_t n, const ElementIndices& indices) override {
    blocks_.for_each(elements, n, indices,
                     [&](const std::byte* values, std::size_t kept, const ElementIndices& places) {
                       values_->reduce(values, kept, places);
                     });
  }

 protected:
  Sink& values() const { return *values_; }

 private:
  DecodedBlocks blocks_;
  std::unique_ptr<Sink> values_;
};

}  // namespace warpfold::cpu
