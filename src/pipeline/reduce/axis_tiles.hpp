#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "core/results/accumulator.hpp"
#include "core/results/axis_totals.hpp"
#include "mpi/communicator.hpp"
#include "pipeline/regions/work_tiling.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::pipeline {

/// Tiles of which a rank's threads have reduced some items.
class AxisTiles {
 public:
  /// `values` is the elements' type once decoded.
  AxisTiles(const WorkTiling& tiling, ElementType values, ReduceNeeds needs)
      : tiling_(tiling), values_(values), needs_(needs) {}

  /// Adds a reduction of `items` items of a tile; returns the tile once all of its items are there.
  /// Threads may add at once, and merge different parts of a tile at the same time.
  std::optional<AxisTotals> add(std::uint64_t tile, std::uint64_t items, AxisParts parts);

  /// Combines what ranks have of the tiles they share, on the lowest of them; returns the tile that
  /// this rank has completed so, if any. Collective; throws the same Error on every rank.
  std::optional<std::pair<std::uint64_t, AxisTotals>> combine(
      const mpi::Communicator& communicator);

 private:
  struct Partial {
    AxisTotals totals;
    std::uint64_t items;
  };

  struct Message {
    std::uint64_t tile;
    int to;
    std::vector<std::uint64_t> words;
  };

  void pack_for_others(const mpi::Communicator& communicator);

  /// Takes out what there is of a tile; stores a partial, and returns nothing, where there is none.
  std::optional<Partial> exchange(std::uint64_t tile, Partial& partial);

  const WorkTiling& tiling_;
  ElementType values_;
  ReduceNeeds needs_;
  std::mutex mutex_;
  std::map<std::uint64_t, Partial> partials_;
  std::vector<Message> messages_;
};

}  // namespace warpfold::pipeline
