#include "cuda/staging/promoted_loader.hpp"

#include <string>

#include "core/layout/partition.hpp"
#include "cuda/chunks/promoted_elements.hpp"
#include "warpfold/core/error.hpp"

namespace warpfold::cuda {
namespace {

constexpr std::uint64_t vector_bytes = 16;

bool widens(const PromotedLoaderPlan& plan) {
  return !kernels::stored_wide(plan.slabs.format, plan.slabs.decoding);
}

bool marks(const PromotedLoaderPlan& plan) {
  return plan.marks_counting && !plan.slabs.decoding.selects_all();
}

std::uint64_t stored_bytes(const PromotedLoaderPlan& plan) {
  return round_up(plan.slabs.slab_elements * size_of(plan.slabs.format.type), vector_bytes);
}

std::uint64_t wide_bytes(const PromotedLoaderPlan& plan) {
  return widens(plan) ? plan.slabs.slab_elements * kernels::wide_bytes : 0;
}

std::uint64_t counting_bytes(const PromotedLoaderPlan& plan) {
  return marks(plan) ? plan.slabs.slab_elements * sizeof(bool) : 0;
}

}  // namespace

PromotedLoader::PromotedLoader(const PromotedLoaderPlan& plan, const TimedEvent& epoch)
    : plan_(plan),
      chunks_({.staging_bytes = plan.slabs.slot_bytes()}),
      stored_(stored_bytes(plan)),
      wide_(wide_bytes(plan)),
      counting_(counting_bytes(plan)) {
  for (int i = 0; i < plan.buffers; ++i)
    buffers_.push_back(
        std::make_unique<StagingBuffer>(ChunkLoader::buffer_bytes(plan.slabs.slot_bytes()), epoch));
}

std::uint64_t PromotedLoader::device_bytes(const PromotedLoaderPlan& plan) {
  return ChunkLoader::device_bytes({.staging_bytes = plan.slabs.slot_bytes()}) +
         stored_bytes(plan) + wide_bytes(plan) + counting_bytes(plan);
}

ElementType PromotedLoader::wide_type() const {
  return kernels::wide_type(plan_.slabs.decoding.value_type(plan_.slabs.format.type));
}

std::span<std::byte> PromotedLoader::buffer() {
  buffers_[turn_]->wait();
  return buffers_[turn_]->memory().first(plan_.slabs.slot_bytes());
}

void PromotedLoader::load(const StagedChunks& slab, const BoxIndices& indices,
                          cudaStream_t stream) {
  const std::uint64_t elements = slab.target.elements;
  if (elements > plan_.slabs.slab_elements)
    throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                "the slot holds " + std::to_string(plan_.slabs.slab_elements), "");
  const std::size_t element_bytes = size_of(plan_.slabs.format.type);
  chunks_.clear();
  chunks_.copy(*buffers_[turn_], slab, indices, element_bytes, stream);
  turn_ = (turn_ + 1) % buffers_.size();
  chunks_.assemble(0, stored_.data(), stream);
  if (!widens(plan_)) return;
  kernels::widen_elements({.stored = stored_.data(),
                           .count = elements,
                           .format = plan_.slabs.format,
                           .decoding = plan_.slabs.decoding,
                           .wide = wide_.data(),
                           .counting = marks(plan_) ? counting_data() : nullptr,
                           .left_out = plan_.left_out},
                          stream);
}

const std::byte* PromotedLoader::elements() const {
  return widens(plan_) ? wide_.data() : stored_.data();
}

const bool* PromotedLoader::counting() const { return marks(plan_) ? counting_data() : nullptr; }

bool* PromotedLoader::counting_data() const { return reinterpret_cast<bool*>(counting_.data()); }

void PromotedLoader::append_timers(std::vector<SpanTimer*>& timers) const {
  for (const auto& buffer : buffers_) timers.push_back(&buffer->copies());
}

}  // namespace warpfold::cuda
