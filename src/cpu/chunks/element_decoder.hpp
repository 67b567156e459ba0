#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "core/values/decoding.hpp"
#include "cpu/kernels/kernels.hpp"
#include "cpu/machine/aligned_memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cpu {

/// A decoded block.
struct DecodedValues {
  const std::byte* values = nullptr;      ///< values of all elements, if any count
  const std::uint64_t* counts = nullptr;  ///< bits of those that do, if some do and some don't
  std::size_t kept = 0;                   ///< how many count
};

/// Applies a Decoding to blocks of at most block_elements elements, of one thread. Stored elements
/// are aligned to their size; values are of Decoding::value_type(), in native byte order.
class ElementDecoder : public InAlignedMemory {
 public:
  virtual ~ElementDecoder() = default;

  /// Returns the values of `n` elements and which count; valid until the next call.
  virtual DecodedValues decode(const std::byte* stored, std::size_t n) = 0;

  /// Writes the values that count among `n` decoded elements, packed. There is room for n.
  virtual void pack(const DecodedValues& decoded, std::size_t n, std::byte* values) const = 0;

  /// Writes the values of all `n` decoded elements; those that don't count get the value given for
  /// them. Where values are floats of 32 or 64 bits, NaN is canonical.
  virtual void fill(const DecodedValues& decoded, std::size_t n, std::byte* values) const = 0;
};

/// Returns a decoding that also widens floats of 16 bits; for other types the one given.
Decoding widening(const Decoding& decoding, ElementType stored);

/// Returns a decoding that gives elements the floats of equal value, of which those that are left
/// out can be marked; nothing where there are none, or values are unpacked.
std::optional<Decoding> as_floats(const Decoding& decoding, ElementType stored);

/// `left_out` has the bits of the value that fill() gives elements that don't count.
std::unique_ptr<ElementDecoder> make_element_decoder(const Kernels& kernels, ElementFormat stored,
                                                     const Decoding& decoding,
                                                     std::uint64_t left_out = 0);

}  // namespace warpfold::cpu
