#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/engine/staging_plan.hpp"
#include "cuda/select/select_elements.hpp"
#include "cuda/staging/chunk_loader.hpp"

namespace warpfold::cuda {

/// Processing of slabs, as far as it determines their memory.
struct SlabPurpose {
  std::string verb;     ///< "reduce", for errors
  bool places = false;  ///< whether places of selected elements are needed
  /// Device memory of a slot beside its elements, for slabs of so many bytes of values.
  std::function<std::uint64_t(std::uint64_t value_bytes)> slot_bytes;
};

/// A slot's memory.
struct SlotLayout {
  std::uint64_t elements;
  std::uint64_t staging_bytes;
};

/// Assignment of slots' slabs to batches: each slot has a batch of its own; or all share some, and
/// as many slabs share a batch as are decompressed at once.
struct SlabLayout {
  int slots;
  SlotLayout slot;
  bool decompresses = false;
  int batches = 0;    ///< `slots` unless they decompress
  LoaderSize loader;  ///< loader of a batch, if slabs consist of chunks
};

/// Memory of a plan's slots.
class SlotMemory {
 public:
  SlotMemory(const StagingPlan& plan, const SlabPurpose& purpose)
      : plan_(plan), purpose_(purpose) {}

  /// Returns what so much device memory allows: batches that decompress, if planned, where there is
  /// enough for that. Throws Error where it is too little for any.
  SlabLayout layout(std::uint64_t limit) const;

  /// Returns such batches alone, if there is enough for them.
  std::optional<SlabLayout> decompressing_layout(std::uint64_t limit) const;

 private:
  SlotLayout slot_for(std::uint64_t slab_bytes) const;
  std::uint64_t device_bytes(const SlotLayout& slot) const;
  std::uint64_t work_bytes(const SlotLayout& slot) const;
  std::uint64_t planned_bytes() const;

  const StagingPlan& plan_;
  const SlabPurpose& purpose_;
};

/// Returns which elements of a slab the plan's decoding keeps.
SelectRule select_rule(const StagingPlan& plan, const SlabPurpose& purpose);

}  // namespace warpfold::cuda
