#include "pipeline/run/gpu_share.hpp"

namespace warpfold::pipeline {

void GpuShare::start() {
  engine_ = make_engine_();
  if (!engine_->decompresses() || engine_->slab_elements() < slab_elements_) return;
  gpu_ = engine_.get();
}

bool GpuShare::claim(std::uint64_t left) {
  StreamEngine* const gpu = gpu_;
  if (gpu == nullptr) return false;
  gpu->proceed();
  if (ended_) return false;
  const std::lock_guard lock(mutex_);
  if (!ended_ && left < least_slabs_) {
    ended_ = true;
    flush_if_idle();
  }
  if (ended_ || !gpu->is_ready()) return false;
  ++claims_;
  return true;
}

void GpuShare::release() {
  const std::lock_guard lock(mutex_);
  --claims_;
  if (ended_) flush_if_idle();
}

void GpuShare::flush_if_idle() {
  if (claims_ == 0) engine_->flush();
}

}  // namespace warpfold::pipeline
