#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

namespace warpfold::pipeline {

/// A queue between two threads. Its length is bounded by what circulates: buffers come back.
template <class T>
class Channel {
 public:
  void push(T item) {
    {
      const std::lock_guard lock(mutex_);
      items_.push_back(std::move(item));
    }
    changed_.notify_one();
  }

  /// Waits for an item; nothing once the channel is closed and empty.
  std::optional<T> pop() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !items_.empty() || closed_; });
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    return item;
  }

  /// No more items will come.
  void close() {
    {
      const std::lock_guard lock(mutex_);
      closed_ = true;
    }
    changed_.notify_all();
  }

  /// As close(), and drops the items still waiting.
  void cancel() {
    {
      const std::lock_guard lock(mutex_);
      items_.clear();
      closed_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<T> items_;
  bool closed_ = false;
};

}  // namespace warpfold::pipeline
