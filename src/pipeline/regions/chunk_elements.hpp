#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "core/layout/chunk_grid.hpp"
#include "warpfold/core/element_range.hpp"

namespace warpfold::pipeline {

/// Fills `out` with the elements of a flat range of a dataset, packed.
using ElementSource = std::function<void(ElementRange range, std::span<std::byte> out)>;

/// Fills a whole chunk, row by row; its elements beyond the dataset get zero bytes.
void fill_chunk(const ChunkGrid& grid, std::uint64_t number, std::size_t element_bytes,
                const ElementSource& source, std::span<std::byte> chunk);

}  // namespace warpfold::pipeline
