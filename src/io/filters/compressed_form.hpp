#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/layout/staged_chunks.hpp"
#include "io/filters/filter.hpp"

namespace warpfold::io {

/// Returns the form of what a filter makes of chunks of elements, if that is one that can be left
/// to a GPU.
std::optional<CompressedForm> compressed_form(const Filter& filter, std::size_t element_bytes,
                                              std::uint64_t chunk_bytes);

}  // namespace warpfold::io
