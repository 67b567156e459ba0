#include "cuda/staging/slab_layout.hpp"

#include <algorithm>

#include "core/layout/partition.hpp"
#include "cuda/inflate/inflate.hpp"
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
  const bool chunks = plan_.staging == Staging::chunks;
  return work_bytes(slot) +
         (chunks ? ChunkLoader::device_bytes({.staging_bytes = slot.staging_bytes}) : 0);
}

/// Without what chunks are loaded through.
std::uint64_t SlotMemory::work_bytes(const SlotLayout& slot) const {
  const SelectRule rule = select_rule(plan_, purpose_);
  const std::uint64_t stored = slot.elements * size_of(plan_.format.type);
  const std::uint64_t selected =
      plan_.decoding.trivial() ? 0 : SelectedElements::bytes(rule, slot.elements);
  return stored + selected + purpose_.slot_bytes(slot.elements * size_of(rule.value_format().type));
}

std::optional<SlabLayout> SlotMemory::decompressing_layout(std::uint64_t limit) const {
  const CompressedChunks& compressed = plan_.compressed;
  if (compressed.chunks == 0) return std::nullopt;
  const SlotLayout slot{planned_bytes() / size_of(plan_.format.type), compressed.staging_bytes};
  // While those of six are decompressed, one is filled and one is worked on.
  constexpr std::uint64_t max_batches = 8;
  constexpr std::uint64_t decompressing_batches = 6;
  constexpr std::uint64_t least_streams = 128;
  const std::uint64_t slabs = ceil_div(compressed.chunks, compressed.slab_chunks);
  const std::uint64_t batches = std::min(max_batches, slabs);
  LoaderSize loader{.staging_bytes = slot.staging_bytes,
                    .slab_chunks = compressed.slab_chunks,
                    .form = compressed.form};
  const std::uint64_t most =
      kernels::resident_inflate_streams() * max_batches / decompressing_batches;
  for (std::uint64_t streams = std::min(most, compressed.chunks); streams >= least_streams;
       streams /= 2) {
    loader.slabs = ceil_div(streams, batches * compressed.slab_chunks);
    loader.compressed = loader.slabs * compressed.slab_chunks;
    if (batches * (work_bytes(slot) + ChunkLoader::device_bytes(loader)) <= limit)
      return SlabLayout{plan_.slots(), slot, true, static_cast<int>(batches), loader};
  }
  return std::nullopt;
}

SlabLayout SlotMemory::layout(std::uint64_t limit) const {
  if (const std::optional<SlabLayout> decompressing = decompressing_layout(limit))
    return *decompressing;
  const auto batch_for_each = [](std::uint64_t slots, const SlotLayout& slot) {
    const auto count = static_cast<int>(slots);
    return SlabLayout{count, slot, false, count, {.staging_bytes = slot.staging_bytes}};
  };
  const std::uint64_t slab_bytes = planned_bytes();
  const SlotLayout planned = slot_for(slab_bytes);
  const std::uint64_t slots = limit / device_bytes(planned);
  if (slots > 0)
    return batch_for_each(std::min<std::uint64_t>(slots, static_cast<unsigned>(plan_.slots())),
                          planned);

  // A slab of n times 64 KiB needs at most n times what one of 64 KiB needs.
  const std::uint64_t min_bytes = std::min(slab_bytes, min_slab_bytes);
  const std::uint64_t minimum = device_bytes(slot_for(min_bytes));
  const std::uint64_t granules = limit / minimum;
  if (granules == 0)
    throw Error(
        "the GPU memory limit is too small to " + purpose_.verb + " in",
        std::to_string(limit) + " bytes, and the smallest slab takes " + std::to_string(minimum),
        "Raise `device_memory_bytes` to " + std::to_string(minimum) + " or more.");
  return batch_for_each(1, slot_for(granules * min_bytes));
}

}  // namespace warpfold::cuda
