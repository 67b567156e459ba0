#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "cuda/histogram/histogram.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::cuda {

/// Cells for bins, and what a BinTable holds of them.
struct BinIndex {
  kernels::BinCells cells;
  std::vector<std::uint32_t> first_bins;  ///< one more than there are bins
};

/// For the edges' keys, one or more, of values of the type: cells of equal width, which suit edges
/// that numpy.linspace() makes, or of equal numbers of values, as suit those of numpy.geomspace().
BinIndex bin_index(ElementType type, std::span<const std::uint64_t> keys);

}  // namespace warpfold::cuda
