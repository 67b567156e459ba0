#pragma once

#include <algorithm>
#include <cstdint>

#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// A ScanEngine's block and the elements it holds.
struct BlockTask {
  int block;
  ElementRange range;
};

/// Calls body(offset in the block, elements) for the pieces of a block.
template <class Body>
void for_each_piece(std::uint64_t elements, std::uint64_t piece_elements, Body&& body) {
  for (std::uint64_t offset = 0; offset < elements; offset += piece_elements)
    body(offset, std::min(piece_elements, elements - offset));
}

}  // namespace warpfold::pipeline
