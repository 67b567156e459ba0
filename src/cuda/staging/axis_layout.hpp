#pragma once

#include <cstdint>
#include <string>

#include "core/engine/staging_plan.hpp"
#include "cuda/staging/slab_layout.hpp"
#include "cuda/staging/wide_elements.hpp"

namespace warpfold::cuda {

/// Device memory that work along axes needs in addition to slabs' stored elements.
struct AxisMemory {
  std::string verb;                ///< "reduce along axes", for errors
  std::uint64_t thread_bytes = 0;  ///< bytes per thread
  std::uint64_t turn_bytes = 0;    ///< bytes per thing that a thread has under way
  std::uint64_t batch_bytes = 0;   ///< bytes per batch
};

/// An engine's threads, which are its slots, and batches, and what each thread can have under way.
struct AxisLayout {
  SlabLayout slabs;
  int under_way = 1;
};

/// Places of what a thread has under way, which begins and ends in one order.
class ThreadTurns {
 public:
  /// Takes the thread's number, and how many places each thread has.
  ThreadTurns(int thread, int places)
      : first_place_(thread * places), places_(static_cast<unsigned>(places)) {}

  /// Returns the place of the one that is to begin. Throws Error where all are under way.
  int next() const;

  /// Return the place of the one that began last, and of the one that is to end.
  int last() const { return place(begun_ - 1); }
  int first() const { return place(ended_); }

  void begin() { ++begun_; }
  void end() { ++ended_; }

 private:
  int place(std::uint64_t number) const {
    return first_place_ + static_cast<int>(number % places_);
  }

  int first_place_;
  unsigned places_;
  std::uint64_t begun_ = 0;
  std::uint64_t ended_ = 0;
};

/// Returns the plan without decoding, for slabs as they are stored: widening marks the elements
/// that count.
StagingPlan without_decoding(StagingPlan plan);

/// Returns the processing that slabs of a batch get.
SlabPurpose purpose_of(const AxisMemory& memory);

/// Returns the bytes of one thread with one thing under way: what layout_of() needs.
std::uint64_t least_bytes(const StagingPlan& plan, const AxisMemory& memory);

/// Returns a layout for `limit` bytes: one that decompresses if half of them is enough for two
/// things under way per thread, and the rest for batches; otherwise one of as many threads as fit,
/// with one thing under way each. Throws Error where none fits.
AxisLayout layout_of(const StagingPlan& plan, const AxisMemory& memory, int wanted,
                     std::uint64_t limit);

}  // namespace warpfold::cuda
