#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <thread>

#include "core/backend.hpp"
#include "io/dataset.hpp"
#include "pipeline/channel.hpp"
#include "pipeline/stage_clock.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Reads a range of a dataset, slab by slab, into the slots of a FoldEngine on a thread of its own;
/// it runs ahead as far as there are free slots.
class SlabReader {
 public:
  struct Slab {
    int slot;
    ElementRange range;
  };

  SlabReader(io::Dataset& dataset, FoldEngine& engine, ElementRange range,
             std::uint64_t slab_elements);
  ~SlabReader();
  SlabReader(const SlabReader&) = delete;
  SlabReader& operator=(const SlabReader&) = delete;

  /// The next slab, in ascending order; nothing at the end. Throws what reading threw.
  std::optional<Slab> next();

  /// Hands a slot back to be filled again.
  void release(int slot) { free_.push(slot); }

  /// Of the reading; once next() has returned nothing.
  StageTiming timing() const { return clock_.timing(); }

 private:
  void run(io::Dataset& dataset, FoldEngine& engine, ElementRange range,
           std::uint64_t slab_elements);

  Channel<int> free_;
  Channel<Slab> filled_;
  std::exception_ptr failure_;
  StageClock clock_{"read"};
  std::jthread thread_;
};

}  // namespace warpfold::pipeline
