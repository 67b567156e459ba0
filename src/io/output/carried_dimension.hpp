#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/layout/partition.hpp"
#include "core/layout/selection.hpp"

namespace warpfold::io {

/// How outputs have a dimension of the dataset that they are computed from.
struct CarriedDimension {
  enum class Fate : std::uint8_t {
    kept,
    reduced,           ///< outputs lack it
    reduced_to_cells,  ///< outputs have an index for each cell of consecutive elements
    merged,            ///< outputs have one dimension for all that are merged
  };

  Slice selected;  ///< slice of the stored dimension
  Fate fate = Fate::kept;
  std::uint64_t cell_elements = 0;  ///< elements of all cells but the last; 0: there is one cell
  std::vector<ElementRange> cells = {};  ///< indices of each cell, in place of that number
  /// Files that have its coordinates one behind another, the dataset's first; empty: that alone.
  std::vector<std::string> files = {};
  std::string new_name = {};  ///< name of a new one, the first, of one index per file; else empty

  bool is_new() const { return !new_name.empty(); }

  bool is_left() const {
    return fate == Fate::reduced_to_cells || (fate == Fate::kept && !selected.dropped);
  }

  /// Returns its cells where it is reduced, otherwise its elements.
  std::uint64_t extent() const {
    if (fate == Fate::kept) return selected.count;
    if (!cells.empty()) return cells.size();
    return cell_elements == 0 ? 1 : ceil_div(selected.count, cell_elements);
  }

  /// Returns the selected indices that make up a cell.
  ElementRange cell(std::uint64_t number) const {
    if (!cells.empty()) return cells[number];
    if (cell_elements == 0) return {0, selected.count};
    return block_range(selected.count, cell_elements, number);
  }

  /// Tells whether there is a cell for each selected index.
  bool has_single_elements() const {
    return selected.count == 1 || cell_elements == 1 || cells.size() == selected.count;
  }
};

}  // namespace warpfold::io
