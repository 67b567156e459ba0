#pragma once

#include <cstdint>
#include <string>

#include "core/engine/staging_plan.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/wide_elements.hpp"

namespace warpfold::cuda {

/// Device memory that work along axes needs in addition to slabs' stored elements.
struct AxisMemory {
  std::string verb;               ///< "reduce along axes", for errors
  std::uint64_t slot_bytes = 0;   ///< bytes per slot
  std::uint64_t turn_bytes = 0;   ///< bytes per turn of a slot
  std::uint64_t batch_bytes = 0;  ///< bytes per batch
};

/// An engine's slots and batches, and the turns of each slot.
struct AxisLayout {
  SlabLayout slabs;
  int turns = 1;
};

/// Returns the plan without decoding, for slabs as they are stored: widening marks the elements
/// that count.
StagingPlan without_decoding(StagingPlan plan);

/// Returns the processing that slabs of a batch get.
SlabPurpose purpose_of(const AxisMemory& memory);

/// Returns the bytes of one slot of one turn: what layout_of() needs.
std::uint64_t least_bytes(const StagingPlan& plan, const AxisMemory& memory);

/// Returns a layout for `limit` bytes: one that decompresses if half of them is enough for two
/// turns of each slot, and the rest for batches; otherwise one of as many slots as fit, of one
/// turn. Throws Error where none fits.
AxisLayout layout_of(const StagingPlan& plan, const AxisMemory& memory, int wanted_turns,
                     std::uint64_t limit);

}  // namespace warpfold::cuda
