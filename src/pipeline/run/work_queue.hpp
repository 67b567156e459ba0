#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <vector>

#include "mpi/communicator.hpp"
#include "pipeline/run/progress_monitor.hpp"
#include "warpfold/core/element_range.hpp"
#include "warpfold/run_options.hpp"

namespace warpfold::pipeline {

/// Hands a rank's items to its threads, some at a time, and gathers what they say of them.
class WorkQueue {
 public:
  /// Takes items for one thread.
  class Worker {
   public:
    Worker(int number, WorkQueue& queue, const std::stop_token& stop)
        : number_(number), queue_(queue), stop_(stop) {}

    int number() const { return number_; }  ///< from 0

    /// Returns the next item; none once all are taken or the work is to stop.
    std::optional<std::uint64_t> next();

    /// Counts the items that are left.
    std::uint64_t left() const;

    /// Tells whether another thread or rank has failed, so that nothing more is needed.
    bool is_to_stop() const { return stop_.stop_requested(); }

    /// Tells when that comes.
    const std::stop_token& stop() const { return stop_; }

    /// Counts so many bytes of the pass as done.
    void advance(std::uint64_t bytes) { queue_.done_ += bytes; }

   private:
    int number_;
    ElementRange mine_;  ///< items taken from the queue
    WorkQueue& queue_;
    const std::stop_token& stop_;
  };

  /// Takes items until there are no more and returns its stages' times.
  using Body = std::function<std::vector<StageTiming>(Worker& worker)>;

  /// A thread's items are `run` that follow one another, then others.
  explicit WorkQueue(ElementRange items, std::uint64_t run = 1)
      : items_(items), run_(run), next_(items.first) {}

  /// Runs `body` in `threads` threads of this rank, in a pass over `bytes` bytes of all ranks.
  /// Returns the times of all threads' stages, thread by thread. Collective; where a body throws,
  /// all threads of all ranks stop and every rank throws that Error.
  std::vector<StageTiming> run(int threads, const Body& body, std::uint64_t bytes,
                               ProgressMonitor& monitor, const mpi::Communicator& communicator);

 private:
  ElementRange items_;
  std::uint64_t run_;
  std::atomic<std::uint64_t> next_;
  std::atomic<std::uint64_t> done_ = 0;  ///< bytes
};

}  // namespace warpfold::pipeline
