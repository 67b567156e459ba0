#include "cuda/staging/slab_batches.hpp"

#include <algorithm>
#include <exception>
#include <string>

#include "warpfold/core/error.hpp"

namespace warpfold::cuda {

SlabBatch::SlabBatch(const StagingPlan& plan, const SlabPurpose& purpose, const SlabLayout& layout,
                     std::unique_ptr<SlabStage> stage, const TimedEvent& time_origin)
    : format_(plan.format),
      compressed_(plan.compressed),
      in_flight_(std::min(plan.compressed.chunks,
                          static_cast<std::uint64_t>(layout.batches) * layout.loader.compressed)),
      layout_(layout.slot),
      stage_(std::move(stage)),
      elements_(layout.slot.elements * size_of(plan.format.type)),
      decompressing_(time_origin),
      working_(time_origin) {
  if (plan.staging == Staging::chunks) loader_.emplace(layout.loader);
  if (!plan.decoding.trivial()) selected_.emplace(select_rule(plan, purpose), layout_.elements);
  if (!layout.decompresses) return;
  // Loaded later, they would wait for what other batches decompress, and all threads for them.
  ChunkLoader::load_kernels(size_of(format_.type));
  take({}, nullptr);
}

void SlabBatch::add(int slot, StagingBuffer& from, const StagedChunks& slab) {
  const std::uint64_t elements = slab.target.elements;
  if (elements > layout_.elements)
    throw Error("a slab of " + std::to_string(elements) + " elements is too large",
                "the slot holds " + std::to_string(layout_.elements), "");
  if (loader_)
    loader_->copy(from, slab, size_of(format_.type), stream());
  else
    copy_run(from, slab);
  slabs_.push_back({elements, slot, slab.indices});
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
  if (!loader_ || loader_->compressed() == 0) return;
  decompressing_.begin(stream());
  loader_->start_decompressing(in_flight_, stream());
  decompressing_.end(stream(), loader_->decompressed_bytes());
}

void SlabBatch::finish() {
  if (loader_ && loader_->compressed() > 0) loader_->finish_decompressing(compressed_, stream());
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
  SlabValues values{.elements = elements_.data(),
                    .count = slab.elements,
                    .format = format_,
                    .first_index = indices == nullptr ? slab.flat.first : 0,
                    .indices = indices,
                    .selected = nullptr,
                    .places = nullptr,
                    .slot = slab.slot,
                    .flat = slab.flat};
  if (selected_) {
    selected_->select(elements_.data(), slab.elements, slab.flat, stream());
    values.elements = selected_->values();
    values.format = selected_->format();
    values.selected = selected_->count();
    values.places = selected_->places();
  }
  stage_->take(values, stream());
}

void SlabBatches::submit(int slot, StagingBuffer& from, const StagedChunks& slab) {
  if (!shared_) {
    SlabBatch& batch = *batches_[static_cast<std::size_t>(slot)];
    batch.add(slot, from, slab);
    batch.start();
    return batch.finish();
  }
  proceed();
  while (!add(slot, from, slab)) wait_for_room();
}

/// Adds a slab to the batch that is being filled; returns whether there is one.
bool SlabBatches::add(int slot, StagingBuffer& from, const StagedChunks& slab) {
  const std::lock_guard lock(mutex_);
  if (states_[filling_] != State::filling) return false;
  batches_[filling_]->add(slot, from, slab);
  if (!batches_[filling_]->has_room()) start_filled();
  return true;
}

/// Starts the batch that is being filled, and goes on to the one that was started before all
/// others.
void SlabBatches::start_filled() {
  batches_[filling_]->start();
  states_[filling_] = State::decompressing;
  filling_ = (filling_ + 1) % batches_.size();
  has_room_ = states_[filling_] == State::filling;
}

/// Waits until the next batch can be filled.
void SlabBatches::wait_for_room() {
  std::unique_lock lock(mutex_);
  if (states_[filling_] == State::decompressing) return finish(filling_, lock);
  finished_.wait(lock, [&] { return states_[filling_] != State::finishing; });
}

void SlabBatches::proceed() {
  std::unique_lock lock(mutex_, std::try_to_lock);
  if (!shared_ || !lock) return;
  const std::size_t batch = started_first();
  if (states_[batch] == State::decompressing && batches_[batch]->is_decompressed())
    finish(batch, lock);
}

/// Returns the batch that was started first of those that are decompressed; any other if there is
/// none.
std::size_t SlabBatches::started_first() const {
  std::size_t batch = filling_;
  for (std::size_t i = 0; i < batches_.size() && states_[batch] != State::decompressing; ++i)
    batch = (batch + 1) % batches_.size();
  return batch;
}

void SlabBatches::finish(std::size_t batch, std::unique_lock<std::mutex>& lock) {
  states_[batch] = State::finishing;
  lock.unlock();
  std::exception_ptr failure;
  try {
    batches_[batch]->finish();
  } catch (...) {
    failure = std::current_exception();
  }
  lock.lock();
  states_[batch] = State::filling;
  has_room_ = states_[filling_] == State::filling;
  finished_.notify_all();
  if (failure) std::rethrow_exception(failure);
}

void SlabBatches::flush() {
  if (!shared_) return;
  const std::lock_guard lock(mutex_);
  if (states_[filling_] == State::filling && !batches_[filling_]->empty()) start_filled();
}

void SlabBatches::finish_until(const std::function<bool()>& is_done) {
  std::unique_lock lock(mutex_);
  while (shared_ && !is_done()) {
    const std::size_t batch = started_first();
    if (states_[batch] == State::decompressing)
      finish(batch, lock);
    else if (std::ranges::find(states_, State::finishing) != states_.end())
      finished_.wait(lock);
    else if (!batches_[filling_]->empty())
      start_filled();
    else
      return;
  }
}

void SlabBatches::finish() {
  finish_until([] { return false; });
}

}  // namespace warpfold::cuda
