#include "cuda/staging/axis_layout.hpp"

#include <algorithm>
#include <optional>

#include "cuda/staging/chunk_loader.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

std::optional<AxisLayout> decompressing_layout(const StagingPlan& plan, const AxisMemory& memory,
                                               int wanted, std::uint64_t limit) {
  constexpr std::uint64_t least = 2;
  const auto threads = static_cast<std::uint64_t>(plan.slots());
  const std::uint64_t share = limit / 2 / threads;
  if (share < memory.thread_bytes + least * memory.turn_bytes) return std::nullopt;
  const std::uint64_t under_way =
      std::min((share - memory.thread_bytes) / memory.turn_bytes,
               std::max(least, static_cast<std::uint64_t>(std::max(wanted, 0))));
  const StagingPlan stored = without_decoding(plan);
  const SlabPurpose purpose = purpose_of(memory);
  const auto slabs = SlotMemory(stored, purpose)
                         .decompressing_layout(limit - threads * (memory.thread_bytes +
                                                                  under_way * memory.turn_bytes));
  if (!slabs) return std::nullopt;
  return AxisLayout{*slabs, static_cast<int>(under_way)};
}

LoaderSize loader_of(const StagingPlan& plan) { return {.staging_bytes = plan.slot_bytes()}; }

}  // namespace

int ThreadTurns::next() const {
  if (begun_ - ended_ == places_)
    throw Error("a thread has no room for more", std::to_string(places_) + " are under way", "");
  return place(begun_);
}

StagingPlan without_decoding(StagingPlan plan) {
  plan.decoding = {};
  return plan;
}

SlabPurpose purpose_of(const AxisMemory& memory) {
  return {.verb = memory.verb,
          .slot_bytes = [bytes = memory.batch_bytes](std::uint64_t) { return bytes; }};
}

std::uint64_t least_bytes(const StagingPlan& plan, const AxisMemory& memory) {
  return memory.thread_bytes + memory.turn_bytes + memory.batch_bytes +
         ChunkLoader::device_bytes(loader_of(plan)) +
         plan.slab_elements * size_of(plan.format.type);
}

AxisLayout layout_of(const StagingPlan& plan, const AxisMemory& memory, int wanted,
                     std::uint64_t limit) {
  if (const auto decompressing = decompressing_layout(plan, memory, wanted, limit))
    return *decompressing;
  const LoaderSize loader = loader_of(plan);
  const std::uint64_t slot_bytes = least_bytes(plan, memory);
  const std::uint64_t fitting = limit / slot_bytes;
  if (fitting == 0)
    throw Error(
        "the GPU memory limit is too small to " + memory.verb + " in",
        std::to_string(limit) + " bytes, and one thread's slabs take " + std::to_string(slot_bytes),
        "Raise `device_memory_bytes` to " + std::to_string(slot_bytes) +
            " or more, or give a smaller `slab_bytes`.");
  const auto slots =
      static_cast<int>(std::min<std::uint64_t>(fitting, static_cast<unsigned>(plan.slots())));
  return {{slots, {plan.slab_elements, plan.slot_bytes()}, false, slots, loader}};
}

}  // namespace warpfold::cuda
