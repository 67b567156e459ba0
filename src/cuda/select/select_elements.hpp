#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/layout/staged_chunks.hpp"
#include "core/values/decoding.hpp"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {
namespace kernels {

/// Destination of selected elements, in device memory with room for all.
struct SelectTarget {
  std::byte* values = nullptr;      ///< decoded elements, native; aligned to their size
  std::uint32_t* places = nullptr;  ///< among the stored elements; null where they are not wanted
  std::uint64_t* count = nullptr;
  std::byte* scratch = nullptr;  ///< select_scratch_bytes() of them, aligned to 8
};

inline constexpr std::uint64_t max_selected_elements = ~std::uint32_t{0};

/// Returns how many bytes of scratch memory a selection from so many elements takes.
std::uint64_t select_scratch_bytes(std::uint64_t elements);

/// Writes the values of the elements that the decoding does not leave out one after the other, in
/// their order. At most max_selected_elements.
void select_elements(const StoredElements& stored, const SelectTarget& target, cudaStream_t stream);

}  // namespace kernels

/// Which elements are selected of those stored, and as what.
struct SelectRule {
  ElementFormat format;  ///< as stored
  Decoding decoding;     ///< its mask in device memory
  bool places = false;   ///< are wanted

  /// Returns the format of selected elements.
  ElementFormat value_format() const { return {decoding.value_type(format.type)}; }
};

/// Device memory for the elements of a slab or block that are selected.
class SelectedElements {
 public:
  /// Takes the memory for at most `elements` at a time.
  SelectedElements(const SelectRule& rule, std::uint64_t elements);

  /// Returns how much memory that is.
  static std::uint64_t bytes(const SelectRule& rule, std::uint64_t elements);

  /// Starts selecting what the rule selects of `count` elements in device memory, which have these
  /// flat indices.
  void select(const std::byte* elements, std::uint64_t count, const BoxIndices& indices,
              cudaStream_t stream) const;

  ElementFormat format() const { return rule_.value_format(); }
  const std::byte* values() const { return target_.values; }
  const std::uint32_t* places() const { return target_.places; }  ///< null where not wanted
  const std::uint64_t* count() const { return target_.count; }

 private:
  SelectRule rule_;
  DeviceBuffer memory_;
  kernels::SelectTarget target_;
};

}  // namespace warpfold::cuda
