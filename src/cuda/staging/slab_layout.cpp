#include "cuda/staging/slab_layout.hpp"

#include <algorithm>

#include "cuda/staging/chunk_loader.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t max_slab_elements = std::uint64_t{1} << 30;
constexpr std::uint64_t max_slab_bytes = std::uint64_t{1} << 30;
constexpr std::uint64_t min_slab_bytes = std::uint64_t{64} << 10;

}  // namespace

SelectRule select_rule(const StagingPlan& plan, const SlabPurpose& purpose) {
  return {plan.format, plan.decoding, purpose.places};
}

std::uint64_t SlotMemory::planned_bytes() const {
  const std::uint64_t elements =
      std::clamp<std::uint64_t>(plan_.slab_elements, 1, max_slab_elements);
  return std::min(elements * size_of(plan_.format.type), max_slab_bytes);
}

/// For slabs of at most `slab_bytes`, the plan's or less.
SlotLayout SlotMemory::slot_for(std::uint64_t slab_bytes) const {
  const std::uint64_t planned = planned_bytes();
  const std::uint64_t staging = std::max(plan_.staging_bytes, planned);
  const double share = static_cast<double>(slab_bytes) / static_cast<double>(planned);
  const auto less = static_cast<std::uint64_t>(static_cast<double>(staging) * share);
  return {slab_bytes / size_of(plan_.format.type),
          slab_bytes == planned ? staging : std::max(less, slab_bytes)};
}

std::uint64_t SlotMemory::device_bytes(const SlotLayout& slot) const {
  const SelectRule rule = select_rule(plan_, purpose_);
  const std::uint64_t stored = slot.elements * size_of(plan_.format.type);
  const std::uint64_t loader =
      plan_.staging == Staging::chunks ? ChunkLoader::buffer_bytes(slot.staging_bytes) : 0;
  const std::uint64_t selected =
      plan_.decoding.trivial() ? 0 : SelectedElements::bytes(rule, slot.elements);
  return stored + loader + selected +
         purpose_.slot_bytes(slot.elements * size_of(rule.value_format().type));
}

SlabLayout SlotMemory::layout(std::uint64_t limit) const {
  const std::uint64_t slab_bytes = planned_bytes();
  const SlotLayout planned = slot_for(slab_bytes);
  const std::uint64_t slots = limit / device_bytes(planned);
  if (slots > 0)
    return {static_cast<int>(
                std::min<std::uint64_t>(slots, static_cast<unsigned>(std::max(plan_.slots, 1)))),
            planned};

  // A slab of n times 64 KiB needs at most n times what one of 64 KiB needs.
  const std::uint64_t min_bytes = std::min(slab_bytes, min_slab_bytes);
  const std::uint64_t minimum = device_bytes(slot_for(min_bytes));
  const std::uint64_t granules = limit / minimum;
  if (granules == 0)
    throw Error(
        "the GPU memory allowed is too little to " + purpose_.verb + " in",
        std::to_string(limit) + " bytes, and the smallest slab takes " + std::to_string(minimum),
        "Raise `device_memory_bytes` to " + std::to_string(minimum) + " or more.");
  return {1, slot_for(granules * min_bytes)};
}

}  // namespace warpfold::cuda
