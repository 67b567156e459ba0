#include "pipeline/run/pass.hpp"

#include <mutex>
#include <optional>

#include "pipeline/run/collective.hpp"
#include "pipeline/run/stage_timings.hpp"
#include "pipeline/run/worker_threads.hpp"

namespace warpfold::pipeline {
namespace {

/// Hands a rank's items to its threads.
class ItemQueue {
 public:
  explicit ItemQueue(const PassItems& pass)
      : pass_(pass), next_(pass.items.first), left_of_item_(0) {}

  /// Returns the next item of those that a thread has taken, `taken`, or of the others.
  std::optional<PassItem> next(ElementRange& taken) {
    return pass_.gpu != nullptr ? next_shared(taken) : next_whole(taken);
  }

 private:
  std::optional<PassItem> next_whole(ElementRange& taken) {
    if (pass_.host != nullptr) {
      const std::optional<HostItems::Item> item = pass_.host->next();
      if (!item) return std::nullopt;
      return PassItem{.number = item->number, .rest = item->rest};
    }
    if (taken.count == 0) taken = {next_.fetch_add(pass_.grain_size), pass_.grain_size};
    if (taken.first >= pass_.items.end()) return std::nullopt;
    --taken.count;
    return PassItem{taken.first++};
  }

  /// Prefers the GPU whenever it is to have an item.
  std::optional<PassItem> next_shared(ElementRange& taken) {
    if (pass_.gpu->claim(left())) {
      if (auto item = next_whole(taken)) {
        item->for_gpu = true;
        return item;
      }
      pass_.gpu->release();
    }
    const std::lock_guard lock(mutex_);
    if (left_of_item_ == 0) {
      const std::optional<PassItem> item = next_whole(taken);
      if (!item) return std::nullopt;
      shared_item_ = *item;
      left_of_item_ = pass_.pieces;
    }
    PassItem piece = shared_item_;
    piece.piece = pass_.pieces - left_of_item_--;
    return piece;
  }

  std::uint64_t left() const {
    if (pass_.host != nullptr) return pass_.host->left();
    const std::uint64_t next = next_;
    return next < pass_.items.end() ? pass_.items.end() - next : 0;
  }

  const PassItems& pass_;
  std::atomic<std::uint64_t> next_;
  std::mutex mutex_;
  PassItem shared_item_;        ///< whose pieces cores take
  std::uint64_t left_of_item_;  ///< pieces
};

/// Carries out one thread's part of a pass. Returns its stages' times.
std::vector<StageTiming> pass_items(const PassItems& pass, ItemQueue& queue, PassThread& thread,
                                    const MakeConsumer& make) {
  const std::unique_ptr<Consumer> consumer = make(thread);
  if (!consumer) return {};
  if (pass.gpu != nullptr && thread.number == 0) pass.gpu->start();
  ElementRange taken{};
  while (!thread.stop.stop_requested()) {
    const std::optional<PassItem> item = queue.next(taken);
    if (!item) {
      consumer->finish();
      return consumer->timings();
    }
    consumer->take(*item);
    if (item->for_gpu) pass.gpu->release();
  }
  return {};
}

}  // namespace

std::vector<StageTiming> run_pass(const PassItems& pass, ProgressMonitor& monitor,
                                  const mpi::Communicator& communicator, const MakeConsumer& make,
                                  const MergePass& merge) {
  const auto start = SteadyClock::now();
  ItemQueue queue(pass);
  std::atomic<std::uint64_t> done = 0;
  std::vector<std::vector<StageTiming>> timings(static_cast<std::size_t>(pass.threads));
  std::optional<WorkerThreads> workers;
  monitor.start_pass(pass.bytes);
  run_on_all(communicator, [&] {
    workers.emplace(pass.threads, [&](int number, const std::stop_token& stop) {
      PassThread thread{number, stop, done, monitor.stages()};
      timings[static_cast<std::size_t>(number)] = pass_items(pass, queue, thread, make);
    });
  });
  wait_all_ranks(*workers, communicator, monitor, [&] { return done.load(); });
  std::vector<StageTiming> stages;
  for (const auto& each : timings) append(stages, each);
  if (merge) merge(stages);
  return over_threads(stages, seconds_since(start));
}

}  // namespace warpfold::pipeline
