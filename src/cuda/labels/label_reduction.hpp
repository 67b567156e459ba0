#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "core/results/accumulator.hpp"
#include "core/results/axis_parts.hpp"
#include "cuda/labels/label_table.hpp"
#include "cuda/runtime/memory.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Reduces slabs that are in the memory of one device into an output for each label. Of the current
/// device, as when it was made.
class LabelReduction {
 public:
  /// Copies of limbs as long as labels are so few that all have room.
  static constexpr std::uint32_t copies_of_few = 8;

  /// Takes elements whose decoded type is `values`, of labels below `capacity`. Throws an Error
  /// where there is too little memory.
  LabelReduction(ElementType values, const ReduceNeeds& needs, std::uint64_t capacity);

  static std::uint64_t device_bytes(ElementType values, const ReduceNeeds& needs,
                                    std::uint64_t capacity);

  std::uint64_t capacity() const { return table_.capacity; }

  /// Starts reducing a slab, after what the stream holds. One slab at a time: the caller orders
  /// streams, and keeps the slab's memory until the stream is done.
  void take(kernels::LabelSlab slab, cudaStream_t stream);

  /// Returns what has come of so many labels, and forgets it. Once other streams are done.
  AxisParts finish(std::uint64_t labels, cudaStream_t stream);

 private:
  void take_part(const kernels::LabelSlab& part, cudaStream_t stream);
  void clear_where_unused(cudaStream_t stream);
  void take_labels(std::uint64_t labels, cudaStream_t stream);
  void merge_copies(cudaStream_t stream);

  ElementType elements_{};  ///< the type of slabs' elements
  ReduceNeeds needs_;
  DeviceBuffer memory_;
  kernels::LabelTable table_{};
  std::uint32_t* used_limbs_ = nullptr;
  bool in_use_ = false;             ///< otherwise totals are anything
  std::uint64_t labels_ = 0;        ///< that have come
  std::uint64_t unnormalized_ = 0;  ///< elements
};

}  // namespace warpfold::cuda
