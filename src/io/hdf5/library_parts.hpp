#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/layout/selection.hpp"

namespace warpfold::io {

/// A cut of `part`, a slice for each dimension of a dataset in chunks of `chunk_shape`, into pieces
/// that follow one another in row-major order and lie in no more than `max_chunks` chunks each, as
/// far as pieces of more than one element can. Neither empty; all extents 1 or more.
std::vector<Selection> cut_by_chunks(const Selection& part,
                                     std::span<const std::uint64_t> chunk_shape,
                                     std::uint64_t max_chunks);

}  // namespace warpfold::io
