#include "cuda/histogram/bin_cells.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace warpfold::cuda {
namespace {

/// The floating-point value whose ordered_key() it is.
double value_of(std::uint64_t key) {
  constexpr std::uint64_t sign = std::uint64_t{1} << 63;
  return std::bit_cast<double>((key & sign) != 0 ? key ^ sign : ~key);
}

/// Where the edges are, as cells see them.
std::vector<double> positions_of(std::span<const std::uint64_t> keys, bool by_value) {
  std::vector<double> positions(keys.size());
  std::ranges::transform(keys, positions.begin(), [&](std::uint64_t key) {
    return by_value ? value_of(key) : static_cast<double>(key - keys.front());
  });
  return positions;
}

kernels::BinCells cells_of(const std::vector<double>& positions, bool by_value) {
  const auto bins = static_cast<double>(positions.size() - 1);
  const double scale = bins / (positions.back() - positions.front());
  return {by_value, positions.front(), std::isfinite(scale) ? scale : 0, std::max(bins - 1, 0.0)};
}

/// A bin begins in a cell no later than its values do, and ends in one no earlier.
BinIndex index_of(std::span<const std::uint64_t> keys, bool by_value) {
  const std::vector<double> positions = positions_of(keys, by_value);
  BinIndex index{cells_of(positions, by_value), {}};
  const auto bins = static_cast<std::uint32_t>(keys.size() - 1);
  std::uint32_t bin = 0;
  for (std::uint32_t cell = 0; cell <= bins; ++cell) {
    while (bin + 1 < bins && index.cells.cell_of(positions[bin + 1]) < cell) ++bin;
    index.first_bins.push_back(bin);
  }
  return index;
}

/// How many keys are looked at, of values that are spread over bins as evenly as over cells.
double search_cost(const BinIndex& index) {
  double cost = 0;
  for (std::size_t cell = 0; cell + 1 < index.first_bins.size(); ++cell) {
    const double bins = index.first_bins[cell + 1] - index.first_bins[cell] + 1;
    cost += bins * std::log2(bins + 1);
  }
  return cost;
}

}  // namespace

BinIndex bin_index(ElementType type, std::span<const std::uint64_t> keys) {
  BinIndex by_key = index_of(keys, false);
  if (!is_floating(type)) return by_key;
  BinIndex by_value = index_of(keys, true);
  return search_cost(by_key) < search_cost(by_value) ? by_key : by_value;
}

}  // namespace warpfold::cuda
