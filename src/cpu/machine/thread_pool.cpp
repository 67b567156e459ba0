#include "cpu/machine/thread_pool.hpp"

#include <string>
#include <system_error>
#include <utility>

#include "warpfold/core/error.hpp"

namespace warpfold::cpu {

ThreadPool::ThreadPool(int threads) : threads_(threads) {
  if (threads < 1)
    throw usage_error("cannot compute with " + std::to_string(threads) + " threads", "",
                      "Give at least 1.");
  try {
    for (int worker = 1; worker < threads; ++worker)
      workers_.emplace_back([this, worker](const std::stop_token& stop) { serve(stop, worker); });
  } catch (const std::system_error& error) {
    throw Error("cannot start " + std::to_string(threads) + " threads", error.what(),
                "Request fewer threads, or raise the limit of processes.");
  }
}

ThreadPool::~ThreadPool() = default;

void ThreadPool::parallel_for(std::size_t tasks, const Task& run) {
  const std::lock_guard region(region_);
  {
    const std::lock_guard lock(mutex_);
    run_ = &run;
    tasks_ = tasks;
    next_ = 0;
    busy_ = threads_ - 1;
    ++generation_;
  }
  started_.notify_all();
  take_tasks(0);
  join_region();
}

void ThreadPool::join_region() {
  std::unique_lock lock(mutex_);
  finished_.wait(lock, [this] { return busy_ == 0; });
  if (const std::exception_ptr failure = std::exchange(failure_, nullptr))
    std::rethrow_exception(failure);
}

void ThreadPool::serve(const std::stop_token& stop, int worker) {
  std::size_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (!started_.wait(lock, stop, [&] { return generation_ != seen; })) return;
      seen = generation_;
    }
    take_tasks(worker);
    const std::lock_guard lock(mutex_);
    if (--busy_ == 0) finished_.notify_one();
  }
}

void ThreadPool::take_tasks(int worker) {
  try {
    for (std::size_t task = next_++; task < tasks_; task = next_++) (*run_)(task, worker);
  } catch (...) {
    next_ = tasks_;
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

}  // namespace warpfold::cpu
