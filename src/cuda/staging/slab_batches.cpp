#include "cuda/staging/slab_slots.hpp"

#include <string>
#include <utility>

#include "cuda/runtime/stream.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

SlabSlot::SlabSlot(const StagingPlan& plan, const SlabPurpose& purpose, const SlotLayout& layout,
                   std::unique_ptr<SlabStage> stage, const TimedEvent& epoch)
    : format_(plan.format),
      layout_(layout),
      stage_(std::move(stage)),
      staging_(plan.staging == Staging::chunks ? ChunkLoader::buffer_bytes(layout.staging_bytes)
                                               : layout.staging_bytes,
               epoch),
      slab_(layout.elements * size_of(plan.format.type)),
      work_(epoch) {
  if (plan.staging == Staging::chunks) loader_.emplace(layout.staging_bytes);
  if (!plan.decoding.trivial()) selected_.emplace(select_rule(plan, purpose), layout.elements);
}

std::span<std::byte> SlabSlot::buffer() {
  staging_.wait();
  return staging_.memory().first(layout_.staging_bytes);
}

void SlabSlot::submit(const StagedChunks& slab, const BoxIndices& indices) {
  const std::uint64_t elements = slab.target.elements;
  if (elements > layout_.elements)
    throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                "the slot holds " + std::to_string(layout_.elements), "");
  if (!loader_) {
    copy_run(slab);
    work_.begin(stream());
    return take(elements, indices.first, nullptr);
  }
  const std::size_t element_bytes = size_of(format_.type);
  loader_->copy(staging_, slab, indices, element_bytes, stream());
  work_.begin(stream());
  loader_->assemble(slab, element_bytes, slab_.data(), stream());
  take(elements, 0, loader_->indices());
}

void SlabSlot::copy_run(const StagedChunks& slab) {
  const std::optional<StagedRun> run = run_of(slab);
  const std::uint64_t bytes = slab.target.elements * size_of(format_.type);
  if (!run || run->elements != slab.target.elements || run->source > layout_.staging_bytes ||
      bytes > layout_.staging_bytes - run->source)
    throw Error("a slab is no run of elements in its slot",
                "the slot holds " + std::to_string(layout_.staging_bytes) + " bytes", "");
  staging_.begin_copy(stream());
  copy_to_device(slab_.data(), staging_.memory().data() + run->source, bytes, stream());
  staging_.end_copy(stream(), bytes);
}

void SlabSlot::take(std::uint64_t elements, std::uint64_t first_index, const BoxIndices* indices) {
  SlabValues values{slab_.data(), elements, format_, first_index, indices, nullptr, nullptr};
  if (selected_) {
    selected_->select(slab_.data(), elements, stream());
    values.elements = selected_->values();
    values.format = selected_->format();
    values.selected = selected_->count();
    values.places = selected_->places();
  }
  stage_->take(values, stream());
  work_.end(stream(), elements * size_of(format_.type));
}

}  // namespace warpfold::cuda
