#pragma once

#include <cstdint>

#include "bench/harness/result.hpp"
#include "core/results/accumulator.hpp"
#include "warpfold/core/element_type.hpp"

namespace warpfold::bench {

/// Judges a sum, an element of type `output` whose bits are the lowest of `bits`, by the exact
/// reduction of the elements (of type `input`): integers have to be equal modulo their width, of
/// floats the error is set, in units in the last place of `output`.
void judge_sum(Row& row, std::uint64_t bits, ElementType input, ElementType output,
               const Accumulator& exact);

}  // namespace warpfold::bench
