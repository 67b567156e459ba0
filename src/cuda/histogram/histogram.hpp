#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/host_device.hpp"

namespace warpfold::cuda::kernels {

/// A way from values to cells, as many as there are bins, that never falls where values rise:
/// (position - origin) * scale, where `position` is the ordered_key(), counted from that of the
/// first edge, or the value itself.
struct BinCells {
  bool by_value;
  double origin;
  double scale;
  double last;  ///< cell

  WARPFOLD_HD std::uint32_t cell_of(double position) const {
    const double cell = (position - origin) * scale;
    return static_cast<std::uint32_t>(cell > 0 ? (cell < last ? cell : last) : 0);
  }
};

/// Bins, and the cells by which they are found.
struct BinTable {
  const std::uint64_t* keys;  ///< keys of the edges, rising: bins + 1
  BinCells cells;
  /// Values in cell c are in the bins first_bins[c] to first_bins[c + 1].
  const std::uint32_t* first_bins;
};

/// Finds the bin with keys[bin] <= key < keys[bin + 1], given the key's cell.
WARPFOLD_HD inline std::uint32_t find_bin(const BinTable& table, std::uint64_t key,
                                          std::uint32_t cell) {
  std::uint32_t low = table.first_bins[cell];
  std::uint32_t high = table.first_bins[cell + 1] + 1;
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (table.keys[middle] <= key ? low : high) = middle;
  }
  return low;
}

/// Counters behind those of the bins: what no bin takes.
enum class OutsideBins : unsigned { below, above, nan };
inline constexpr std::uint64_t outside_counters = 3;

inline constexpr std::uint64_t max_bins = std::uint64_t{1} << 31;

/// In device memory: the bins, and what counts for them.
struct HistogramBins {
  BinTable table;
  std::uint64_t count;  ///< at most max_bins
  std::uint64_t first_key;
  std::uint64_t end_key;
  unsigned long long* counters;  ///< count + outside_counters
};

struct HistogramArguments {
  const std::byte* elements;  ///< in device memory, aligned to their size
  std::uint64_t count;        ///< the most there may be where `selected` says how many there are
  ElementFormat format;
  const std::uint64_t* selected;  ///< in device memory, or null
  HistogramBins bins;
};

/// Cells for bins, and what a BinTable holds of them.
struct BinIndex {
  BinCells cells;
  std::vector<std::uint32_t> first_bins;  ///< one more than there are bins
};

/// Makes the cells for the edges' keys, one or more, of values of the type: of equal width, which
/// suit edges that numpy.linspace() makes, or of equal numbers of values, as suit those of
/// numpy.geomspace().
BinIndex bin_index(ElementType type, std::span<const std::uint64_t> keys);

/// Adds each element to its counter.
void histogram(const HistogramArguments& arguments, cudaStream_t stream);

}  // namespace warpfold::cuda::kernels
