#include "core/layout/partition.hpp"

#include <algorithm>

namespace warpfold {
namespace {

/// Returns where granule number `granule` starts, or the end for numbers past the last. No product
/// overflows, even where `elements` rounded up to granules would.
std::uint64_t granule_start(std::uint64_t elements, std::uint64_t granule_elements,
                            std::uint64_t granule) {
  return granule < ceil_div(elements, granule_elements) ? granule * granule_elements : elements;
}

}  // namespace

ElementRange partition(std::uint64_t elements, std::uint64_t granule, std::uint64_t ranks,
                       std::uint64_t rank) {
  const std::uint64_t granules = ceil_div(elements, granule);
  const std::uint64_t share = granules / ranks;
  const std::uint64_t ranks_with_one_more = granules % ranks;
  const std::uint64_t first = rank * share + std::min(rank, ranks_with_one_more);
  const std::uint64_t end = first + share + (rank < ranks_with_one_more ? 1 : 0);
  const std::uint64_t start = granule_start(elements, granule, first);
  return {start, granule_start(elements, granule, end) - start};
}

ElementRange block_range(std::uint64_t elements, std::uint64_t block_elements,
                         std::uint64_t block) {
  const std::uint64_t start = granule_start(elements, block_elements, block);
  return {start, std::min(block_elements, elements - start)};
}

}  // namespace warpfold
