#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "warpfold/core/element_type.hpp"
#include "warpfold/core/int128.hpp"

namespace warpfold::cpu {

/// Stores `n` prefixes as elements of a floating-point `type`, NaN canonical: it holds all of them,
/// so that none is returned.
std::optional<std::size_t> store_prefixes(ElementType type, const double* prefixes, std::size_t n,
                                          std::byte* to);

/// Stores any `n` prefixes as elements of `type`, wrapped where they don't fit. Returns the first
/// that doesn't, if any.
std::optional<std::size_t> store_prefixes(ElementType type, const int128* prefixes, std::size_t n,
                                          std::byte* to);

/// Stores prefixes that `type` holds, or that wrap in an integer type, as elements of `type`: their
/// low 64 bits for an integer type; for a floating-point type they must be 64-bit signed integers,
/// for one narrower than f64 of at most 53 bits.
void store_words(ElementType type, const std::uint64_t* prefixes, std::size_t n, std::byte* to);

/// Returns whether elements of `type` hold all integers from `lowest` to `highest`.
bool holds(ElementType type, int128 lowest, int128 highest);

}  // namespace warpfold::cpu
