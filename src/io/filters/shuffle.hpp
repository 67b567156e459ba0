#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "io/filters/filter_step.hpp"

namespace warpfold::io {

/// Apply and undo HDF5's shuffle filter: the first bytes of all elements, then the second bytes,
/// ...; bytes behind the last whole element stay where they are. `out` is as long as `bytes`.
void shuffle(std::span<const std::byte> bytes, std::size_t element_bytes, std::span<std::byte> out);
void unshuffle(std::span<const std::byte> bytes, std::size_t element_bytes,
               std::span<std::byte> out);

/// Undoes the filter; `element_bytes` is 1 or more.
std::unique_ptr<FilterStep> make_unshuffle_step(std::size_t element_bytes);

}  // namespace warpfold::io
