#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "emulator/grid.hpp"

// In the place of src/cuda/primitives/bulk_copy.cuh: nothing arrives before it is waited for, nor
// is shared memory read before.
namespace warpfold::cuda {

class Mbarrier {
 public:
  void initialize(std::uint32_t arrivals) {
    arrivals_ = missing_ = static_cast<std::uint16_t>(arrivals);
    phase_ = 0;
    bytes_ = 0;
  }

  void arrive() { arrive_and_expect(0); }

  void arrive_and_expect(std::uint32_t bytes) {
    if (missing_ == 0) emulator::fail("more arrivals at an mbarrier than it awaits");
    --missing_;
    copied(-static_cast<std::int32_t>(bytes));
  }

  void wait(std::uint32_t parity) const;

  void copied(std::int32_t bytes) {
    bytes_ += bytes;
    if (missing_ != 0 || bytes_ != 0) return;
    missing_ = arrivals_;
    phase_ ^= 1;
  }

 private:
  std::uint16_t arrivals_ : 15;
  std::uint16_t phase_ : 1;
  std::uint16_t missing_;
  std::int32_t bytes_;  ///< that are copied less those that are expected
};
static_assert(sizeof(Mbarrier) == sizeof(std::uint64_t));

/// Copies of a block to shared memory that are under way, each with its barrier.
inline thread_local std::vector<std::pair<const Mbarrier*, std::function<void()>>> bulk_loads;

inline void Mbarrier::wait(std::uint32_t parity) const {
  while (phase_ == parity) {
    for (std::size_t i = 0; i < bulk_loads.size(); ++i) {
      if (bulk_loads[i].first != this) continue;
      const auto copy = std::move(bulk_loads[i].second);
      bulk_loads.erase(bulk_loads.begin() + static_cast<std::ptrdiff_t>(i--));
      copy();
    }
    if (phase_ == parity) emulator::wait_for_others(this, sizeof(*this));
  }
}

/// Does `copy`, of so many bytes, when `copied` is waited for.
template <class Copy>
void load_later(const Mbarrier& copied, std::uint32_t bytes, Copy copy) {
  bulk_loads.emplace_back(&copied, [&copied, bytes, copy] {
    copy();
    const_cast<Mbarrier&>(copied).copied(static_cast<std::int32_t>(bytes));
  });
}

/// Stores to global memory that a lane has under way: groups, the last one still open.
inline thread_local std::vector<std::vector<std::function<void()>>> bulk_stores[1024];

inline auto& own_bulk_stores() {
  auto& stores = bulk_stores[emulator::place->thread.x];
  if (stores.empty()) stores.emplace_back();
  return stores;
}

inline void fence_mbarrier_initialization() {}
inline void fence_shared_writes() { emulator::perhaps_let_lanes_run(); }

inline void commit_bulk_copies() { own_bulk_stores().emplace_back(); }

inline void wait_for_bulk_reads() {
  for (auto& groups = own_bulk_stores(); groups.size() > 1; groups.erase(groups.begin()))
    for (const auto& copy : groups.front()) copy();
}

}  // namespace warpfold::cuda
