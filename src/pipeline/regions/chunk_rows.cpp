#include "pipeline/regions/chunk_rows.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/layout/partition.hpp"

namespace warpfold::pipeline {
namespace {

/// Chunks of a block: two numbers for each of them travel to the root in one message.
constexpr std::uint64_t max_chunks_of_rows = std::uint64_t{1} << 20;

/// Returns into how many of `units` an extent of them is best divided, given that at most `fitting`
/// (1 or more) fit, of multiples of `step` if these do.
std::uint64_t divided(std::uint64_t units, std::uint64_t fitting, std::uint64_t step) {
  if (step > fitting) step = 1;
  const std::uint64_t steps = ceil_div(units, step);
  return ceil_div(steps, ceil_div(steps, fitting / step)) * step;
}

}  // namespace

ChunkRows::ChunkRows(const ChunkGrid& grid) : grid_(grid) {
  while (along_ + 1 < grid.dimensions && grid.chunk_extent[along_] == 1) ++along_;
}

std::uint64_t ChunkRows::row_elements() const {
  std::uint64_t elements = std::min(grid_.chunk_extent[along_], grid_.extent[along_]);
  for (int d = along_ + 1; d < grid_.dimensions; ++d) elements *= grid_.extent[d];
  return elements;
}

std::optional<Tiling> ChunkRows::blocks(std::uint64_t max_elements, std::uint64_t unit) const {
  std::vector<std::uint64_t> shape(grid_.extent, grid_.extent + grid_.dimensions);
  std::vector<std::uint64_t> extents(shape.size(), 1);
  std::uint64_t elements = 1;  // of what a block spans along inner dimensions
  std::uint64_t chunks = 1;
  for (int d = grid_.dimensions - 1; d > along_; --d) {
    extents[static_cast<std::size_t>(d)] = grid_.extent[d];
    elements *= grid_.extent[d];
    chunks *= grid_.chunks_along(d);
  }
  if (elements == 0 || row_elements() > max_elements || chunks > max_chunks_of_rows)
    return std::nullopt;
  for (int d = along_; d >= 0; --d) {
    const std::uint64_t thickness = std::min(grid_.chunk_extent[d], grid_.extent[d]);
    const std::uint64_t of_one = elements * thickness;
    const std::uint64_t fitting = std::min(max_elements / of_one, max_chunks_of_rows / chunks);
    const std::uint64_t units = grid_.chunks_along(d);
    if (fitting == 0) break;
    if (d > 0 && units <= fitting) {
      extents[static_cast<std::size_t>(d)] = grid_.extent[d];
    } else {
      const std::uint64_t step = unit / std::gcd(of_one, unit);
      extents[static_cast<std::size_t>(d)] = divided(units, fitting, step) * thickness;
      break;
    }
    elements *= grid_.extent[d];
    chunks *= units;
  }
  return Tiling(std::move(shape), std::move(extents));
}

ChunkRun ChunkRows::chunks_of(const Tiling& blocks, std::uint64_t block) const {
  if (block >= blocks.items()) return {grid_.chunks(), 0};
  const Hyperslab region = blocks.region(block);
  ChunkRun run{0, 1};
  for (int d = 0; d < grid_.dimensions; ++d) {
    const auto at = static_cast<std::size_t>(d);
    run.first = run.first * grid_.chunks_along(d) + region.start[at] / grid_.chunk_extent[d];
    run.count *= ceil_div(region.count[at], grid_.chunk_extent[d]);
  }
  return run;
}

}  // namespace warpfold::pipeline
