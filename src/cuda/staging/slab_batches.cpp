#include "cuda/staging/slab_batches.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

SlabBatch::SlabBatch(const StagingPlan& plan, const SlabPurpose& purpose, const SlabLayout& layout,
                     std::unique_ptr<SlabStage> stage, const TimedEvent& epoch)
    : format_(plan.format),
      deflated_(plan.deflated),
      in_flight_(std::min(plan.deflated.chunks,
                          static_cast<std::uint64_t>(layout.batches) * layout.loader.deflated)),
      layout_(layout.slot),
      stage_(std::move(stage)),
      elements_(layout.slot.elements * size_of(plan.format.type)),
      inflating_(epoch),
      working_(epoch) {
  if (plan.staging == Staging::chunks) loader_.emplace(layout.loader);
  if (!plan.decoding.trivial()) selected_.emplace(select_rule(plan, purpose), layout_.elements);
  if (!layout.inflates) return;
  // Loaded later, they would wait for what other batches inflate, and all threads for them.
  ChunkLoader::load_kernels(size_of(format_.type));
  take({0, 0}, nullptr);
}

void SlabBatch::add(StagingBuffer& from, const StagedChunks& slab, const BoxIndices& indices) {
  const std::uint64_t elements = slab.target.elements;
  if (elements > layout_.elements)
    throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                "the slot holds " + std::to_string(layout_.elements), "");
  if (loader_)
    loader_->copy(from, slab, indices, size_of(format_.type), stream());
  else
    copy_run(from, slab);
  slabs_.push_back({elements, loader_ ? 0 : indices.first});
}

void SlabBatch::copy_run(StagingBuffer& from, const StagedChunks& slab) {
  const std::optional<StagedRun> run = run_of(slab);
  const std::uint64_t bytes = slab.target.elements * size_of(format_.type);
  if (!run || run->elements != slab.target.elements || run->source > layout_.staging_bytes ||
      bytes > layout_.staging_bytes - run->source)
    throw Error("a slab is no run of elements in its slot",
                "the slot holds " + std::to_string(layout_.staging_bytes) + " bytes", "");
  from.begin_copy(stream());
  copy_to_device(elements_.data(), from.memory().data() + run->source, bytes, stream());
  from.end_copy(stream(), bytes);
}

void SlabBatch::start() {
  if (!loader_ || loader_->deflated() == 0) return;
  inflating_.begin(stream());
  loader_->start_inflating(in_flight_, stream());
  inflating_.end(stream(), loader_->deflated() * deflated_.chunk_bytes);
}

void SlabBatch::finish() {
  if (loader_ && loader_->deflated() > 0) loader_->finish_inflating(deflated_, stream());
  working_.begin(stream());
  std::uint64_t elements = 0;
  for (std::size_t i = 0; i < slabs_.size(); ++i) {
    if (loader_) loader_->assemble(i, elements_.data(), stream());
    take(slabs_[i], loader_ ? loader_->indices(i) : nullptr);
    elements += slabs_[i].elements;
  }
  working_.end(stream(), elements * size_of(format_.type));
  slabs_.clear();
  if (loader_) loader_->clear();
}

void SlabBatch::take(const Slab& slab, const BoxIndices* indices) {
  SlabValues values{elements_.data(), slab.elements, format_, slab.first_index,
                    indices,          nullptr,       nullptr};
  if (selected_) {
    selected_->select(elements_.data(), slab.elements, stream());
    values.elements = selected_->values();
    values.format = selected_->format();
    values.selected = selected_->count();
    values.places = selected_->places();
  }
  stage_->take(values, stream());
}

void SlabBatches::submit(int slot, StagingBuffer& from, const StagedChunks& slab,
                         const BoxIndices& indices) {
  if (!shared_) {
    SlabBatch& batch = *batches_[static_cast<std::size_t>(slot)];
    batch.add(from, slab, indices);
    batch.start();
    return batch.finish();
  }
  for (bool added = false; !added;) {
    std::vector<std::size_t> started;
    {
      std::unique_lock lock(mutex_);
      worked_.wait(lock, [&] { return !working_[filling_]; });
      if (!batches_[filling_]->fits(slab)) started.push_back(start_filled());
      added = !working_[filling_];
      if (added) {
        batches_[filling_]->add(from, slab, indices);
        chunks_ += slab.chunks.size();
        if (chunks_ == planned_chunks_) started.push_back(start_filled());
      }
    }
    finish(started);
  }
}

/// Starts the batch that is being filled, and goes on to the next. Returns the one started: the
/// caller finishes it.
std::size_t SlabBatches::start_filled() {
  const std::size_t batch = std::exchange(filling_, (filling_ + 1) % batches_.size());
  batches_[batch]->start();
  working_[batch] = true;
  return batch;
}

void SlabBatches::finish(const std::vector<std::size_t>& started) {
  std::exception_ptr failure;
  for (const std::size_t batch : started) {
    try {
      batches_[batch]->finish();
    } catch (...) {
      failure = std::current_exception();
    }
    const std::lock_guard lock(mutex_);
    working_[batch] = false;
    worked_.notify_all();
  }
  if (failure) std::rethrow_exception(failure);
}

void SlabBatches::finish() {
  for (const auto& batch : batches_) {
    if (batch->empty()) continue;
    batch->start();
    batch->finish();
  }
}

}  // namespace warpfold::cuda
