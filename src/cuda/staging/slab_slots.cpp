#include "cuda/staging/slab_slots.hpp"

#include <string>

#include "cuda/runtime/copy.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

SlabSlot::SlabSlot(const ReducePlan& plan, const SlabPurpose& purpose, const SlotLayout& layout,
                   SlabStage& stage, const TimedEvent& epoch)
    : format_(plan.format),
      stage_(stage),
      staging_(
          plan.chunked ? ChunkLoader::buffer_bytes(layout.staging_bytes) : layout.staging_bytes,
          epoch),
      slab_(layout.elements * size_of(plan.format.type)),
      work_(epoch) {
  if (plan.chunked) loader_.emplace(layout.staging_bytes);
  if (!plan.decoding.trivial()) kept_.emplace(keep_rule(plan, purpose), layout.elements);
}

void SlabSlot::submit(std::uint64_t skipped_bytes, std::uint64_t first_index,
                      std::uint64_t elements) {
  const std::uint64_t bytes = elements * size_of(format_.type);
  staging_.begin_copy(stream());
  copy_to_device(slab_.data(), staging_.memory().subspan(skipped_bytes, bytes).data(), bytes,
                 stream());
  staging_.end_copy(stream(), bytes);
  work_.begin(stream());
  take(elements, first_index, nullptr);
}

void SlabSlot::submit(const StagedChunks& slab, const BoxIndices& indices) {
  const std::size_t element_bytes = size_of(format_.type);
  loader_->copy(staging_, slab, indices, element_bytes, stream());
  work_.begin(stream());
  loader_->assemble(slab, element_bytes, slab_.data(), stream());
  take(slab.target.elements, 0, loader_->indices());
}

void SlabSlot::take(std::uint64_t elements, std::uint64_t first_index, const BoxIndices* indices) {
  SlabValues values{slab_.data(), elements, format_, first_index, indices, nullptr, nullptr};
  if (kept_) {
    kept_->keep(slab_.data(), elements, stream());
    values.elements = kept_->values();
    values.format = kept_->format();
    values.kept = kept_->count();
    values.places = kept_->places();
  }
  stage_.take(values, stream());
  work_.end(stream(), elements * size_of(format_.type));
}

SlabSlots::SlabSlots(const Device& device, const ReducePlan& plan, const SlabPurpose& purpose,
                     const SlabLayout& layout, const std::vector<SlabStage*>& stages)
    : device_(device), element_bytes_(size_of(plan.format.type)), layout_(layout.slot) {
  start_timing(epoch_);
  for (SlabStage* slot_stage : stages)
    slots_.push_back(std::make_unique<SlabSlot>(plan, purpose, layout_, *slot_stage, epoch_));
  std::vector<SpanTimer*> copies;
  std::vector<SpanTimer*> work;
  for (const auto& slot : slots_) {
    copies.push_back(&slot->staging().copies());
    work.push_back(&slot->work());
  }
  stages_.push_back(std::make_unique<TimedStage>(stage::copy_to_gpu, copies, plan.stages));
  stages_.push_back(std::make_unique<TimedStage>(stage::reduce, work, plan.stages));
}

std::span<std::byte> SlabSlots::buffer(int slot) {
  device_.activate();
  return at(slot).staging().memory().first(layout_.staging_bytes);
}

void SlabSlots::submit(int slot, std::uint64_t skipped_bytes, std::uint64_t first_index,
                       std::uint64_t elements) {
  if (elements == 0) return;
  check_fits(elements, skipped_bytes + elements * element_bytes_);
  device_.activate();
  at(slot).submit(skipped_bytes, first_index, elements);
}

void SlabSlots::submit(int slot, const StagedChunks& slab, const BoxIndices& indices) {
  if (slab.target.elements == 0) return;
  check_fits(slab.target.elements, 0);
  device_.activate();
  at(slot).submit(slab, indices);
}

void SlabSlots::wait(int slot) {
  device_.activate();
  at(slot).staging().wait();
}

std::vector<EngineTiming> SlabSlots::timings() const {
  device_.activate();
  return timings_of(stages_);
}

void SlabSlots::check_fits(std::uint64_t elements, std::uint64_t bytes) const {
  if (elements <= layout_.elements && bytes <= layout_.staging_bytes) return;
  throw Error("a slab of " + std::to_string(elements) + " elements is too large",
              "the slot holds " + std::to_string(layout_.elements) + " in " +
                  std::to_string(layout_.staging_bytes) + " bytes",
              "");
}

}  // namespace warpfold::cuda
