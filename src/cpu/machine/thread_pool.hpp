#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace warpfold::cpu {

/// Threads that wait for parallel loops. Any thread may start one; loops run one after another.
class ThreadPool {
 public:
  using Task = std::function<void(std::size_t task, int worker)>;

  /// `threads` workers, at least 1, the calling thread of each loop among them. Throws Error.
  explicit ThreadPool(int threads);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int threads() const { return threads_; }

  /// Runs run(0..tasks-1, worker), workers taking tasks as they come free; no two tasks of one
  /// worker, 0 <= worker < threads(), at once. Rethrows the first exception of a task.
  void parallel_for(std::size_t tasks, const Task& run);

 private:
  void serve(const std::stop_token& stop, int worker);
  void take_tasks(int worker);
  void join_region();

  int threads_;
  std::mutex region_;

  std::mutex mutex_;
  std::condition_variable_any started_;
  std::condition_variable finished_;
  std::size_t generation_ = 0;
  int busy_ = 0;
  std::exception_ptr failure_;

  const Task* run_ = nullptr;
  std::size_t tasks_ = 0;
  std::atomic<std::size_t> next_ = 0;

  std::vector<std::jthread> workers_;
};

}  // namespace warpfold::cpu
