#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "core/values/decoding.hpp"
#include "cuda/chunks/decode_elements.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Conversion of a slab's stored elements to wide ones.
struct WideningPlan {
  ElementFormat format;
  Decoding decoding;  ///< its mask in device memory
  std::uint64_t slab_elements = 0;
  bool moves = false;           ///< elements, even those that are stored wide
  bool marks_counting = false;  ///< counting() tells which elements count
  std::uint64_t left_out = 0;   ///< otherwise: bits of a wide value in place of the others
};

/// Device memory in which elements are made wide (see chunks/decode_elements.hpp), a slab's at a
/// time, in the order of one stream.
class WideElements {
 public:
  explicit WideElements(const WideningPlan& plan);

  static std::uint64_t device_bytes(const WideningPlan& plan);

  /// Returns the type of decoded elements: f64, i64 or u64.
  ElementType type() const;

  /// Has the kernel loaded.
  void load_kernel() const;

  /// Starts making elements wide, which have these flat indices. Those that are so already stay
  /// where they are unless the plan moves them. Returns where they will be.
  const std::byte* widen(const std::byte* stored, std::uint64_t count, const BoxIndices& indices,
                         cudaStream_t stream);

  /// Returns, for each of them, whether it counts; null where all do.
  const bool* counting() const;

 private:
  WideningPlan plan_;
  DeviceBuffer wide_;
  DeviceBuffer counting_;
};

}  // namespace warpfold::cuda
