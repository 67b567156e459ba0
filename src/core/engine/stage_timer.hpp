#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/stage_registry.hpp"

namespace warpfold {

/// Adds up one stage's busy time and bytes. Each thread has its own; others may look on.
class StageTimer final : public StageRegistry::Source {
 public:
  /// `board` may be null.
  StageTimer(StageRegistry* registry, std::string name)
      : name_(std::move(name)), entry_(registry, *this) {}
  StageTimer(StageRegistry& registry, std::string name) : StageTimer(&registry, std::move(name)) {}

  /// Runs `body`, which takes `bytes` through the stage.
  template <class Body>
  decltype(auto) time(std::uint64_t bytes, Body&& body) {
    const Running running(*this, bytes);
    return body();
  }

  /// Returns the timing of one thread that never waited.
  StageTiming timing() const { return {name_, 1, seconds(busy_), 0, bytes_.load(relaxed)}; }

  /// With the time since a body that is still running began.
  StageProgress progress() const override;

 private:
  using Clock = std::chrono::steady_clock;
  using Ticks = Clock::rep;

  static constexpr std::memory_order relaxed = std::memory_order_relaxed;
  static constexpr Ticks idle = -1;

  struct Running {
    Running(StageTimer& stage, std::uint64_t bytes) : stage_(stage), bytes_(bytes) {
      stage_.since_.store(start_, relaxed);
    }
    ~Running() { stage_.end(now() - start_, bytes_); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    StageTimer& stage_;
    std::uint64_t bytes_;
    Ticks start_ = now();
  };

  static Ticks now() { return Clock::now().time_since_epoch().count(); }
  static double seconds(Ticks ticks) {
    return std::chrono::duration<double>(Clock::duration(ticks)).count();
  }

  void end(Ticks busy, std::uint64_t bytes);

  std::string name_;
  // Written by the clock's own thread alone.
  std::atomic<Ticks> since_{idle};  ///< when the body that is running began
  std::atomic<Ticks> busy_{0};      ///< busy time of spans that ended
  std::atomic<std::uint64_t> bytes_{0};
  StageRegistry::Entry entry_;
};

/// One clock of a stage for each of some threads.
class StageTimers {
 public:
  StageTimers(StageRegistry& registry, const std::string& name, int threads) {
    for (int thread = 0; thread < threads; ++thread) timers_.emplace_back(registry, name);
  }

  StageTimer& operator[](int thread) { return timers_[static_cast<std::size_t>(thread)]; }

  /// Returns the times by thread, once the threads are done.
  std::vector<StageTiming> timings() const {
    std::vector<StageTiming> timings;
    for (const StageTimer& clock : timers_) timings.push_back(clock.timing());
    return timings;
  }

 private:
  std::deque<StageTimer> timers_;
};

}  // namespace warpfold
