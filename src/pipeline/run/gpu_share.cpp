#include "pipeline/run/gpu_share.hpp"

namespace warpfold::pipeline {

void GpuShare::start() {
  engine_ = make_engine_();
  if (!engine_->decompresses() || engine_->slab_elements() < slab_elements_) return;
  for (int slot = 0; slot < engine_->slots(); ++slot) free_.push_back(slot);
  gpu_ = engine_.get();
}

std::optional<int> GpuShare::take_slot(std::uint64_t left) {
  StreamEngine* const gpu = gpu_;
  if (gpu == nullptr) return std::nullopt;
  gpu->proceed();
  if (ended_) return std::nullopt;
  const std::lock_guard lock(mutex_);
  if (!ended_ && left < least_slabs_) {
    ended_ = true;
    flush_if_idle();
  }
  if (ended_ || free_.empty() || !gpu->is_ready()) return std::nullopt;
  const int slot = free_.front();
  free_.pop_front();
  return slot;
}

void GpuShare::return_slot(int slot) {
  const std::lock_guard lock(mutex_);
  free_.push_back(slot);
  if (ended_) flush_if_idle();
}

void GpuShare::flush_if_idle() {
  if (free_.size() == static_cast<std::size_t>(engine_->slots())) engine_->flush();
}

}  // namespace warpfold::pipeline
