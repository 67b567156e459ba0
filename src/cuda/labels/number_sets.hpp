#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "cuda/runtime/memory.hpp"
#include "cuda/runtime/stream.hpp"

namespace warpfold::cuda {

/// Numbers of places in device memory, for one or more slabs.
struct NumberSet {
  DeviceBuffer memory;
  std::uint64_t places = 0;
  std::uint64_t labels = 0;  ///< numbers are below
  Event uploaded;
  Event used;  ///< done once all slabs so far are
  int users = 0;
};

/// Sets that slots share. Threads may call it at once.
class NumberSets {
 public:
  /// There are `count` of them, of so many bytes, which are allocated once they are needed.
  NumberSets(std::size_t count, std::uint64_t bytes) : bytes_(bytes), sets_(count) {}

  NumberSet& operator[](int set) { return sets_[static_cast<std::size_t>(set)]; }

  /// Takes a set without users and makes the caller its user; returns nothing if all are in use.
  std::optional<int> take() {
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < sets_.size(); ++i) {
      NumberSet& set = sets_[i];
      if (set.users != 0) continue;
      if (set.memory.size() == 0) set.memory = DeviceBuffer(bytes_);
      set.users = 1;
      return static_cast<int>(i);
    }
    return std::nullopt;
  }

  bool any_free() {
    const std::lock_guard lock(mutex_);
    for (const NumberSet& set : sets_)
      if (set.users == 0) return true;
    return false;
  }

  void add_user(int set) { change(set, 1); }
  void remove_user(int set) { change(set, -1); }

 private:
  void change(int set, int users) {
    const std::lock_guard lock(mutex_);
    (*this)[set].users += users;
  }

  std::uint64_t bytes_;
  std::mutex mutex_;
  std::deque<NumberSet> sets_;
};

}  // namespace warpfold::cuda
