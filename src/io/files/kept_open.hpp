#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace warpfold::io {

/// Returns how many files of one kind a process should have open, of those that it may have.
std::size_t most_files_open();

/// Opens numbered things when they are requested, and keeps the last few open. Threads may ask at
/// once.
template <class Thing>
class KeptOpen {
 public:
  using Open = std::function<std::shared_ptr<Thing>(std::size_t number)>;

  KeptOpen(std::size_t most, Open open) : most_(most), open_(std::move(open)) {}

  /// Returns what stays open as long as it is held. Throws what opening throws.
  std::shared_ptr<Thing> get(std::size_t number) {
    const std::lock_guard lock(mutex_);
    if (const auto found = things_.find(number); found != things_.end()) return found->second;
    if (order_.size() == most_) {
      things_.erase(order_.front());
      order_.pop_front();
    }
    std::shared_ptr<Thing> thing = open_(number);
    things_.emplace(number, thing);
    order_.push_back(number);
    return thing;
  }

 private:
  std::size_t most_;
  Open open_;
  std::mutex mutex_;
  std::map<std::size_t, std::shared_ptr<Thing>> things_;
  std::deque<std::size_t> order_;  ///< in which they were opened
};

}  // namespace warpfold::io
