#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "core/layout/staged_chunks.hpp"
#include "core/values/decoding.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

/// The type of 8 bytes that holds every element of type T: of the same value, order, key and bits.
template <class T>
using Wide =
    std::conditional_t<is_floating_element<T>, double,
                       std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>>;

inline constexpr std::uint64_t wide_bytes = 8;

/// Returns the wide type of a type's elements: f64, i64 or u64.
constexpr ElementType wide_type(ElementType type) {
  return visit_element_type(
      type, [](auto element) { return element_type_of<Wide<decltype(element)>>(); });
}

/// Calls `visitor` with a value-initialised object of the wide type.
template <class Visitor>
decltype(auto) visit_wide_type(ElementType wide, Visitor&& visitor) {
  if (wide == ElementType::i64) return visitor(std::int64_t{});
  if (wide == ElementType::u64) return visitor(std::uint64_t{});
  return visitor(double{});
}

/// Returns whether stored elements are wide as they are.
inline bool stored_wide(const ElementFormat& format, const Decoding& decoding) {
  return decoding.trivial() && format.order == native_byte_order &&
         wide_type(format.type) == format.type;
}

/// Stored elements in device memory, and what is to become of them.
struct StoredElements {
  const std::byte* elements;  ///< aligned to their size
  std::uint64_t count;
  ElementFormat format;
  Decoding decoding;     ///< its mask in device memory
  BoxIndices indices{};  ///< flat, of elements: what the mask goes by
};

/// Destination of the values of all elements, in device memory.
struct DecodedElements {
  std::byte* values;  ///< native; may be the elements' memory where sizes are equal
  bool wide = false;  ///< values of wide_type(decoding.value_type(format.type))
  /// For each element whether it counts; null: elements that don't become `left_out`.
  bool* counting = nullptr;
  std::uint64_t left_out = 0;  ///< bits of a value

  /// Values go to their elements' indices, counted from the first of these, others nowhere; none of
  /// these: to their elements' places.
  ElementRange indices = {};
};

/// Has the kernel for elements of a type loaded.
void load_decoding(ElementType type);

void decode_elements(const StoredElements& stored, const DecodedElements& target,
                     cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
