#include "core/engine/stage_timer.hpp"

#include <algorithm>

namespace warpfold {

void StageTimer::end(Ticks busy, std::uint64_t bytes) {
  // Idle first: who looks on in between misses a body for a moment, and never counts it twice.
  since_.store(idle, std::memory_order_release);
  busy_.store(busy_.load(relaxed) + busy, std::memory_order_release);
  bytes_.store(bytes_.load(relaxed) + bytes, relaxed);
}

StageProgress StageTimer::progress() const {
  const Ticks ended = busy_.load(std::memory_order_acquire);
  const Ticks since = since_.load(std::memory_order_acquire);
  const Ticks running = since == idle ? 0 : std::max<Ticks>(0, now() - since);
  return {name_, 1, true, seconds(ended + running), bytes_.load(relaxed)};
}

}  // namespace warpfold
