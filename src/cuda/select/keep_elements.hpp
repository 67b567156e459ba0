#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/values/decoding.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda::kernels {

/// Stored elements in device memory, and what is to become of them.
struct StoredElements {
  const std::byte* elements;  ///< aligned to their size
  std::uint64_t count;
  ElementFormat format;
  Decoding decoding;
};

/// Where kept elements go, in device memory with room for all.
struct KeptTarget {
  std::byte* values = nullptr;      ///< of the decoding's value type, native; aligned to their size
  std::uint32_t* places = nullptr;  ///< among the stored elements; null where they are not wanted
  std::uint64_t* count = nullptr;
  std::byte* scratch = nullptr;  ///< keep_scratch_bytes() of them, aligned to 8
};

inline constexpr std::uint64_t max_kept_elements = ~std::uint32_t{0};

/// For keeping from so many elements.
std::uint64_t keep_scratch_bytes(std::uint64_t elements);

/// Writes the values of the elements that the decoding does not leave out one after the other, in
/// their order. At most max_kept_elements.
void keep_elements(const StoredElements& stored, const KeptTarget& target, cudaStream_t stream);

/// Writes the value of each element, the one whose bits are those of `substitute` for each that is
/// left out, to `values`: memory of its own, or the elements' where sizes are equal.
void decode_elements(const StoredElements& stored, std::uint64_t substitute, std::byte* values,
                     cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
