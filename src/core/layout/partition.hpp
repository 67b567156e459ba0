#pragma once

#include <cstdint>

#include "warpfold/core/element_range.hpp"

namespace warpfold {

/// Returns rank `rank`'s part of `elements` elements in whole granules of `granule` elements (the
/// last may be short): consecutive, in rank order, sizes differing by at most one granule. Empty
/// for ranks beyond the granules.
ElementRange partition(std::uint64_t elements, std::uint64_t granule, std::uint64_t ranks,
                       std::uint64_t rank);

/// Returns block number `block` of `elements` elements in blocks of `block_elements`; empty past
/// the end.
ElementRange block_range(std::uint64_t elements, std::uint64_t block_elements, std::uint64_t block);

/// Returns the quotient rounded up.
constexpr std::uint64_t ceil_div(std::uint64_t dividend, std::uint64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t granule) {
  return ceil_div(value, granule) * granule;
}

}  // namespace warpfold
