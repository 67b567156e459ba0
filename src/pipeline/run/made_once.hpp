#pragma once

#include <functional>
#include <future>
#include <memory>
#include <utility>

namespace warpfold::pipeline {

/// An object that is made once: in a thread of its own (std::launch::async), or by the first thread
/// that needs it (std::launch::deferred), while others that do wait. Threads may call it at once;
/// calls throw what making it threw.
template <class T>
class MadeOnce {
 public:
  MadeOnce() = default;
  MadeOnce(std::launch where, std::function<std::unique_ptr<T>()> make)
      : made_(std::async(where, std::move(make))) {}

  /// Waits for it; null where make() returned null.
  T* get() const {
    const auto mine = made_;
    return mine.get().get();
  }

  T& operator*() const { return *get(); }
  T* operator->() const { return get(); }
  explicit operator bool() const { return get() != nullptr; }

 private:
  std::shared_future<std::unique_ptr<T>> made_;
};

}  // namespace warpfold::pipeline
